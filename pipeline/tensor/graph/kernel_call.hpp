// Calls of kernels that no operation names: the program's own, and any other by its definition.
//
// The node holds the kernel itself, so it is computed with that one on whatever device it lives, also if
// the device's system knows another under the name.
//
// Threads: any.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/kernels/kernel.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::expr {

/// The outputs of one call. Throws what the kernel's rules say, in its name. There is no gradient; see
/// custom_gradient() for one by a rule.
[[nodiscard]] std::vector<Value> call_kernel(std::shared_ptr<const Kernel> kernel,
                                             const Params& params, std::span<const Value> inputs);

/// The kernel that an operation with this payload calls; null if it calls none of these.
[[nodiscard]] std::shared_ptr<const Kernel> called_kernel(const Payload* payload);

}  // namespace stoker::expr
