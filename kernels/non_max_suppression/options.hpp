// non_max_suppression as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct NonMaxSuppression {
  static constexpr KernelName kind{"non_max_suppression"};
  std::int64_t most = 1;
  double overlap = 0;
  bool bounded = false;
  double least_score = 0;
  bool centers = false;
};
template <class V> void visit_options(NonMaxSuppression& o, V&& visit) {
  constexpr double most = (1LL << 31) - 1;
  visit("most", o.most, within(1, most), "boxes that are chosen of each class, at most");
  visit("overlap", o.overlap, anything,
        "a box goes if it shares more with a better one, as a part of what both cover");
  visit("bounded", o.bounded, anything, "whether boxes need a score above least_score");
  visit("least_score", o.least_score, anything, "what scores are above, if they are bounded");
  visit("centers", o.centers, anything,
        "boxes are [x, y, width, height] from their centre, instead of two corners [y, x, y, x]");
}

using NonMaxSuppressionKernels = KernelTypes<NonMaxSuppression>;

}  // namespace stoker::kernels
