// Everything a program needs to use buffers, kernels and pipelines. Optional parts have their own
// headers:
//
//     api/actors.hpp   actors, processes and supervisors of the program's own
//     api/asio.hpp     completion tokens, a host's event loop
//     api/image.hpp    PNG and JPEG
//     api/tensor.hpp   tensors and gradients (component tensor); tensor_async.hpp, eigen.hpp
//     api/nn.hpp       layers and networks (component nn); train.hpp, data.hpp
//     api/onnx.hpp     ONNX models (component onnx)
//     api/model.hpp    models of any kind, for predictions (component model)
//     api/script.hpp   Lua scripts (component script); tensor_script.hpp, nn_script.hpp: extensions of scripts
//     api/glsl.hpp     kernels in GLSL (component glsl)
//     api/fiber.hpp    for callers that run in Boost.Fiber (component fiber)
//     api/testing.hpp  a test's own scheduler, clock and device faults
#pragma once

#include "stoker/api/buffer.hpp"
#include "stoker/api/command.hpp"
#include "stoker/api/device.hpp"
#include "stoker/api/kernel.hpp"
#include "stoker/api/pipeline.hpp"
#include "stoker/api/system.hpp"
#include "stoker/kernels/builtin_kernels.hpp"
#include "stoker/runtime/execution/clock.hpp"
#include "stoker/runtime/execution/executor.hpp"
#include "stoker/runtime/futures/cancel.hpp"
#include "stoker/runtime/futures/future_await.hpp"
#include "stoker/runtime/futures/timeline.hpp"
#include "stoker/runtime/futures/when.hpp"
#include "stoker/runtime/observe/metrics.hpp"
#include "stoker/runtime/observe/prometheus.hpp"
#include "stoker/runtime/observe/trace.hpp"
