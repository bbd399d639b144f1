// top_k, sort and argsort as types (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

enum class SortDirection : std::uint8_t { ascending, descending };

template <KindName Name> struct SortOf {
  static constexpr KernelName kind{Name.text};
  std::int64_t axis = 0;
  SortDirection direction = SortDirection::ascending;
};
template <KindName Name, class V> void visit_options(SortOf<Name>& o, V&& visit) {
  visit("axis", o.axis, anything, "the axis to sort along; a negative one counts from the end");
  visit("direction", o.direction,
        one_of<SortDirection>(
            {{"asc", SortDirection::ascending}, {"desc", SortDirection::descending}}),
        "smallest or largest first");
}
using Sort = SortOf<"sort">;
using Argsort = SortOf<"argsort">;

struct TopK {
  static constexpr KernelName kind{"top_k"};
  std::int64_t k = 1;
};
template <class V> void visit_options(TopK& o, V&& visit) {
  visit("k", o.k, at_least(1), "number of elements to take, at most the extent of the last axis");
}

using SortKernels = KernelTypes<Sort, Argsort, TopK>;

}  // namespace stoker::kernels
