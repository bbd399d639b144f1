// Everything a program needs to run kernels, pipelines and buffers. Optional parts have headers of
// their own: api/asio.hpp (completion tokens, a host's event loop), api/glsl.hpp (GLSL kernels,
// component glsl), api/script.hpp (Lua scripts, component script), runtime/fiber_adaptor.hpp
// (callers in Boost.Fiber, component fiber).
#pragma once

#include "stoker/api/buffer.hpp"
#include "stoker/api/command.hpp"
#include "stoker/api/device.hpp"
#include "stoker/api/kernel.hpp"
#include "stoker/api/pipeline.hpp"
#include "stoker/api/system.hpp"
#include "stoker/runtime/when.hpp"
