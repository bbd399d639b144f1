// Kernels that a device lacks, run by its stand-in: the operands are copied there and the results back.
//
// Threads: any.
#pragma once

#include <memory>
#include <span>

#include "stoker/kernels/params.hpp"
#include "stoker/pipeline/tensor/graph/host_step.hpp"

namespace stoker {
struct Kernel;
}  // namespace stoker

namespace stoker::expr {

/// The step that runs the kernel elsewhere; null if the device has it. The first time for a kernel says
/// so in the log. Errors: what is wrong with the call, and the device's own
/// `unsupported` if no stand-in has it, either.
[[nodiscard]] Result<std::shared_ptr<const HostStep>> fallback_kernel(
    const std::shared_ptr<const Kernel>& kernel, std::span<const TensorSpec> inputs,
    const Params& params, const std::shared_ptr<DeviceClient>& device);

}  // namespace stoker::expr
