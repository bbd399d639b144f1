// Splits one input into several along an axis.
//
//     split(x, 4)          // four equal parts
//     split(x, {1, 6, 3})  // three parts of these sizes
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

struct Split {
  static constexpr const char* kind = "split";
  Required<Extents> splits = {};
  std::int64_t axis = -1;
  std::string name = {};
};
template <class V> void visit_options(Split& o, V&& visit) {
  visit("splits", o.splits, at_least(1),
        "one number: the number of equal parts; several numbers: the size of each part");
  visit("axis", o.axis, anything, "the axis; 0 is the batch and not allowed");
}

}  // namespace layers

/// Pass `splits` and `axis` here, not in `options`.
[[nodiscard]] std::vector<Node> split(const Node& x, Extents splits, std::int64_t axis = -1,
                                      layers::Split options = {});

}  // namespace stoker::nn
