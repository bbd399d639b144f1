// take and take_along_axis as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

template <KindName Name> struct TakeOf {
  static constexpr KernelName kind{Name.text};
  std::int64_t axis = 0;
};
template <KindName Name, class V> void visit_options(TakeOf<Name>& o, V&& visit) {
  visit("axis", o.axis, anything,
        "the axis of x to which the indices apply; a negative one counts from the end");
}
using Take = TakeOf<"take">;
using TakeAlongAxis = TakeOf<"take_along_axis">;

using TakeKernels = KernelTypes<Take, TakeAlongAxis>;

}  // namespace stoker::kernels
