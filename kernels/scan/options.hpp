// cumulative_sum, cumulative_product, cumulative_max and cumulative_min as types
// (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

template <KindName Name> struct ScanOf {
  static constexpr KernelName kind{Name.text};
  std::int64_t axis = 0;
  bool reverse = false;
};
template <KindName Name, class V> void visit_options(ScanOf<Name>& o, V&& visit) {
  visit("axis", o.axis, anything,
        "the axis along which elements are combined; a negative one counts from the end");
  visit("reverse", o.reverse, anything, "begins at the end of the axis");
}
using CumulativeSum = ScanOf<"cumulative_sum">;
using CumulativeProduct = ScanOf<"cumulative_product">;
using CumulativeMax = ScanOf<"cumulative_max">;
using CumulativeMin = ScanOf<"cumulative_min">;

using ScanKernels = KernelTypes<CumulativeSum, CumulativeProduct, CumulativeMax, CumulativeMin>;

}  // namespace stoker::kernels
