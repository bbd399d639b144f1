// Everything a program needs to run kernels, pipelines and buffers. Optional parts have headers of
// their own: api/asio.hpp (completion tokens, a host's event loop), api/glsl.hpp (GLSL kernels,
// component glsl), api/script.hpp (Lua scripts, component script), actors/actor.hpp and
// actors/supervisor/supervisor.hpp (actors of the program's own), runtime/process/fiber_adaptor.hpp (callers in
// Boost.Fiber, component fiber).
#pragma once

#include "stoker/api/buffer.hpp"
#include "stoker/api/command.hpp"
#include "stoker/api/device.hpp"
#include "stoker/api/kernel.hpp"
#include "stoker/api/pipeline.hpp"
#include "stoker/api/system.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/executor.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/timeline.hpp"
#include "stoker/runtime/futures/when.hpp"
#include "stoker/runtime/observe/metrics.hpp"
#include "stoker/runtime/observe/trace.hpp"
