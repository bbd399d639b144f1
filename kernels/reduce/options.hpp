// reduce_sum, reduce_max, reduce_min, reduce_mean, reduce_product, reduce_all and reduce_any as
// types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

template <KindName Name> struct ReduceOf {
  static constexpr KernelName kind{Name.text};
  Extents axes = {};
  bool keepdims = false;
};
template <KindName Name, class V> void visit_options(ReduceOf<Name>& o, V&& visit) {
  visit("axes", o.axes, anything,
        "axes to reduce, each once; a negative one counts from the end; empty: all");
  visit("keepdims", o.keepdims, anything, "keeps reduced axes, with extent 1");
}
using ReduceSum = ReduceOf<"reduce_sum">;
using ReduceMax = ReduceOf<"reduce_max">;
using ReduceMin = ReduceOf<"reduce_min">;
using ReduceMean = ReduceOf<"reduce_mean">;
using ReduceProduct = ReduceOf<"reduce_product">;
using ReduceAll = ReduceOf<"reduce_all">;
using ReduceAny = ReduceOf<"reduce_any">;

using ReduceKernels =
    KernelTypes<ReduceSum, ReduceMax, ReduceMin, ReduceMean, ReduceProduct, ReduceAll, ReduceAny>;

}  // namespace stoker::kernels
