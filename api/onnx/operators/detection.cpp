// Boxes chosen among overlapping ones. The host computes them: there is no kernel.
#include <algorithm>
#include <numeric>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/core/host_calls.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::detection {
namespace {

// NonMaxSuppression ----------------------------------------------------------------------------------

struct Suppression {
  std::int64_t most = 0;
  double overlap = 0;
  std::optional<double> least_score;
  bool has_centers = false;
};

/// Corners in order, whichever were given.
struct Box {
  float y1, x1, y2, x2;
  [[nodiscard]] float area() const { return (y2 - y1) * (x2 - x1); }
};

Box box_at(std::span<const float> boxes, std::size_t i, bool has_centers) {
  const float* const b = boxes.data() + 4 * i;
  if (has_centers) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

bool overlap_more(const Box& a, const Box& b, double limit) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0) return false;
  const float both = height * width;
  const float either = a.area() + b.area() - both;
  return either > 0 && both / either > static_cast<float>(limit);
}

/// Of one class: the best first, without those that overlap a better one.
std::vector<std::int64_t> chosen(std::span<const float> boxes, std::span<const float> scores,
                                 const Suppression& how) {
  std::vector<std::int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  std::vector<std::int64_t> kept;
  for (const std::int64_t i : order) {
    const auto at = static_cast<std::size_t>(i);
    if (static_cast<std::int64_t>(kept.size()) == how.most) break;
    if (how.least_score && !(scores[at] > static_cast<float>(*how.least_score))) continue;
    const Box box = box_at(boxes, at, how.has_centers);
    const bool is_free = std::ranges::none_of(kept, [&](std::int64_t other) {
      return overlap_more(box, box_at(boxes, static_cast<std::size_t>(other), how.has_centers),
                          how.overlap);
    });
    if (is_free) kept.push_back(i);
  }
  return kept;
}

Values non_max_suppression(Call& call) {
  const Shape boxes = call.shape(0);   // [batch, boxes, 4]
  const Shape scores = call.shape(1);  // [batch, classes, boxes]
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2])
    call.refuse(ErrorCode::shape_mismatch,
                call.input(0).to_string() + " and " + call.input(1).to_string());
  Suppression how{.most = std::min(call.has(2) ? call.integer(2) : 0, boxes[1]),
                  .overlap = call.has(3) ? call.real(3) : 0,
                  .least_score = {},
                  .has_centers = call.node().flag("center_point_box", false)};
  if (call.has(4)) how.least_score = call.real(4);
  const std::int64_t bound = scores[0] * scores[1] * std::max<std::int64_t>(how.most, 0);
  if (bound == 0) return {Value{zeros({0, 3}, DType::s64)}};
  // The count stands in the first row.
  const Shape shape{bound + 1, 3};
  const auto choose = [how, shape, boxes, scores](const std::vector<Tensor>& in) {
    const std::vector<float> all_boxes = in[0].to_vector<float>();
    const std::vector<float> all_scores = in[1].to_vector<float>();
    std::vector<std::int64_t> rows(static_cast<std::size_t>(shape.elements()));
    std::size_t next = 3;
    const auto n = static_cast<std::size_t>(boxes[1]);
    for (std::int64_t batch = 0; batch < scores[0]; ++batch)
      for (std::int64_t kind = 0; kind < scores[1]; ++kind) {
        const auto first = static_cast<std::size_t>(batch * scores[1] + kind) * n;
        const auto of_batch =
            std::span{all_boxes}.subspan(static_cast<std::size_t>(batch) * n * 4, n * 4);
        for (const std::int64_t box :
             chosen(of_batch, std::span{all_scores}.subspan(first, n), how)) {
          rows[next++] = batch;
          rows[next++] = kind;
          rows[next++] = box;
        }
      }
    rows[0] = static_cast<std::int64_t>(next / 3 - 1);
    return tensor(rows, shape);
  };
  const Value found =
      call.keep(Value{host_call({DType::s64, shape}, choose, {call.x(0), call.x(1)})});
  const std::int64_t count =
      call.walker().know(call.keep(Value{slice(found.tensor(), {0, 0}, {1, 1})})).to_integers()[0];
  if (count == 0) return {Value{zeros({0, 3}, DType::s64)}};
  return {Value{slice(found.tensor(), {1, 0}, {count, 3})}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "NonMaxSuppression",
             .since = {10, 11},
             .least_inputs = 2,
             .most_inputs = 5,
             .attributes = {"center_point_box"},
             .decides = {2, 3, 4},
             .lower = &non_max_suppression});
}

}  // namespace stoker::onnx::operators::detection
