#include <algorithm>
#include <cmath>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/non_max_suppression/options.hpp"

namespace stoker::kernels::non_max_suppression {
namespace {

KernelCase make(const char* label, std::int64_t batch, std::int64_t classes, std::int64_t n,
                Params params, Fill boxes = {0, 10}, Fill scores = {0, 1}) {
  return {.label = label,
          .inputs = {{DType::f32, Shape{batch, n, 4}}, {DType::f32, Shape{batch, classes, n}}},
          .params = std::move(params),
          .fills = {boxes, scores}};
}

std::vector<KernelCase> all_cases() {
  const Params usual{{"most", 5}, {"overlap", 0.3}};
  std::vector<KernelCase> cases{
      make("few", 1, 1, 7, usual),
      make("classes", 2, 3, 67, usual),
      make("one", 1, 1, 1, {}),
      make("no_boxes", 2, 2, 0, usual),
      make("no_classes", 2, 0, 5, usual),
      make("bounded", 2, 2, 131,
           {{"most", 131}, {"overlap", 0.2}, {"bounded", true}, {"least_score", 0.6}}),
      make("nothing_is_good_enough", 1, 2, 31,
           {{"most", 3}, {"bounded", true}, {"least_score", 2.0}}),
      make("from_the_centre", 1, 2, 61, {{"most", 9}, {"overlap", 0.25}, {"centers", true}}),
      make("more_than_there_are", 1, 1, 5, {{"most", 300}, {"overlap", 1.0}}),
      make("more_than_a_group", 1, 2, 1031, {{"most", 40}, {"overlap", 0.1}}),
      make("no_numbers", 1, 2, 61, usual, {0, 10}, {.specials = true})};
  // More groups than one axis of a grid has.
  cases.push_back(make("many_classes", 7, 10'007, 2, {{"most", 1}}));
  cases.back().heavy = true;
  // Whole numbers meet: of equal scores the first box comes first.
  cases.push_back(
      make("equal_scores", 1, 1, 67, {{"most", 67}, {"overlap", 0.4}}, {0, 10}, {1, 1}));
  return cases;
}

/// Computed in f32, as the kernel does: a comparison has no tolerance.
bool overlaps(const float* a, const float* b, bool centers, float limit) {
  const auto side = [&](const float* box, int axis, bool high) {
    if (!centers)
      return high ? std::max(box[axis], box[axis + 2]) : std::min(box[axis], box[axis + 2]);
    const float half = box[3 - axis] / 2;
    return high ? box[1 - axis] + half : box[1 - axis] - half;
  };
  float areas[3] = {1, 1, 1};  // of a, of b, of both
  for (int axis = 0; axis < 2; ++axis) {
    const float shared = std::min(side(a, axis, true), side(b, axis, true)) -
                         std::max(side(a, axis, false), side(b, axis, false));
    if (shared <= 0) return false;
    areas[0] *= side(a, axis, true) - side(a, axis, false);
    areas[1] *= side(b, axis, true) - side(b, axis, false);
    areas[2] *= shared;
  }
  const float either = areas[0] + areas[1] - areas[2];
  return either > 0 && areas[2] / either > limit;
}

/// Takes the best that is left, again and again.
std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const auto how = options::from<NonMaxSuppression>(call.params);
  const Shape& shape = call.shape(1);
  const auto n = static_cast<std::size_t>(shape[2]);
  const std::vector<float> boxes(inputs[0].begin(), inputs[0].end());
  std::vector<double> chosen(static_cast<std::size_t>(outputs[0].elements()));
  std::vector<double> counts(static_cast<std::size_t>(outputs[1].elements()));
  for (std::size_t list = 0; list < counts.size(); ++list) {
    const double* const scores = inputs[1].data() + list * n;
    const float* const of_batch = boxes.data() + list / static_cast<std::size_t>(shape[1]) * n * 4;
    std::vector<bool> gone(n);
    for (std::size_t i = 0; i < n; ++i)
      gone[i] =
          std::isnan(scores[i]) ||
          (how.bounded && !(scores[i] > static_cast<double>(static_cast<float>(how.least_score))));
    std::int64_t found = 0;
    for (; found < how.most; ++found) {
      std::size_t best = n;
      for (std::size_t i = 0; i < n; ++i)
        if (!gone[i] && (best == n || scores[i] > scores[best])) best = i;
      if (best == n) break;
      for (std::size_t i = 0; i < n; ++i)
        if (i == best || overlaps(of_batch + 4 * i, of_batch + 4 * best, how.centers,
                                  static_cast<float>(how.overlap)))
          gone[i] = true;
      chosen[list * static_cast<std::size_t>(how.most) + static_cast<std::size_t>(found)] =
          static_cast<double>(best);
    }
    counts[list] = static_cast<double>(found);
  }
  return {chosen, counts};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "non_max_suppression";
  suite.cases = all_cases();
  suite.reference = reference;
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::non_max_suppression
