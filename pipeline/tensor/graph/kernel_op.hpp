// Operations that one kernel computes: the kernel's definition holds the shape rule, so the operation
// only names it.
#pragma once

#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::expr {

/// An operation whose attributes are the parameters of the built-in kernel `kernel`. Its errors carry
/// the operation's name. Without a gradient rule, see Op::zero_gradient.
[[nodiscard]] Op kernel_op(std::string name, std::string_view kernel,
                           std::function<Values(const Backward&)> gradient = {});

}  // namespace stoker::expr
