// indexed_add and its siblings as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

template <KindName Name> struct IndexedUpdateOf {
  static constexpr KernelName kind{Name.text};
  Extents axes = {};
};
template <KindName Name, class V> void visit_options(IndexedUpdateOf<Name>& o, V&& visit) {
  visit("axes", o.axes, anything,
        "the axes of the target to which the coordinates in the last axis of indices apply; a "
        "negative one counts from the end; empty: the leading axes");
}
using IndexedAdd = IndexedUpdateOf<"indexed_add">;
using IndexedMultiply = IndexedUpdateOf<"indexed_multiply">;
using IndexedMax = IndexedUpdateOf<"indexed_max">;
using IndexedMin = IndexedUpdateOf<"indexed_min">;
using IndexedPut = IndexedUpdateOf<"indexed_put">;

using ScatterKernels = KernelTypes<IndexedAdd, IndexedMultiply, IndexedMax, IndexedMin, IndexedPut>;

}  // namespace stoker::kernels
