// The axis that take and take_along_axis look up entries along.
#pragma once

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/take/options.hpp"

namespace stoker::kernels::take {

/// The axis of x that a call of K, which is Take or TakeAlongAxis, gives. invalid_parameter if it is
/// out of range.
template <class K> [[nodiscard]] Result<std::size_t> axis_of(const KernelCall& call) {
  return rules::axis(K::kind, "axis", options::from<K>(call.params).axis, call.shape().rank());
}

}  // namespace stoker::kernels::take
