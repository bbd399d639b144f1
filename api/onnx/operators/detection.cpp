// Boxes chosen among overlapping ones.
#include <algorithm>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/ordering.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/transforms/builtin_kernel.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/kernels/non_max_suppression/options.hpp"

namespace stoker::onnx::operators::detection {
namespace {

/// [batch · classes · most + 1, 3]: batch, class and box of each that is chosen, of all classes one after the
/// other. What is not chosen goes to the last row.
Tensor rows_of(const Tensor& chosen, const Tensor& counts) {
  const Shape& shape = chosen.shape();  // [batch, classes, most]
  const std::int64_t lists = shape[0] * shape[1];
  const std::int64_t bound = lists * shape[2];
  const Tensor flat = reshape(counts, {lists});
  const Tensor first =
      broadcast(reshape(cumulative_sum(flat) - flat, {shape[0], shape[1], 1}), shape);
  const Tensor place = iota_along(shape, 2, DType::s32);
  const Tensor is_chosen = less(place, broadcast(new_axis(counts, 2), shape));
  const Tensor row = select(is_chosen, first + place, full_like(place, bound));
  const auto column = [&](const Tensor& x) { return reshape(as_type(x, DType::s64), {bound, 1}); };
  const Tensor rows = concatenate({column(iota_along(shape, 0, DType::s32)),
                                   column(iota_along(shape, 1, DType::s32)), column(chosen)},
                                  1);
  return indexed_put(zeros({bound + 1, 3}, DType::s64), reshape(row, {bound, 1}), rows);
}

Values non_max_suppression(Call& call) {
  const Shape boxes = call.shape(0);   // [batch, boxes, 4]
  const Shape scores = call.shape(1);  // [batch, classes, boxes]
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2])
    call.refuse(ErrorCode::shape_mismatch,
                call.input(0).to_string() + " and " + call.input(1).to_string());
  kernels::NonMaxSuppression how{.most = std::min(call.has(2) ? call.integer(2) : 0, boxes[1]),
                                 .overlap = call.has(3) ? call.real(3) : 0,
                                 .bounded = call.has(4),
                                 .centers = call.node().flag("center_point_box", false)};
  if (how.bounded) how.least_score = call.real(4);
  if (how.most <= 0 || scores.elements() == 0) return {Value{zeros({0, 3}, DType::s64)}};
  const std::vector<Tensor> made = stoker::detail::run_kernel_all(
      how, {as_type(call.x(0), DType::f32), as_type(call.x(1), DType::f32)});
  const Value rows = call.keep(Value{rows_of(made[0], made[1])});
  const Value total = call.keep(Value{reshape(sum(made[1]), {1})});
  const std::int64_t count = call.walker().know(total).to_integers()[0];
  return {Value{slice(rows.tensor(), {0, 0}, {count, 3})}};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "NonMaxSuppression",
             .since = {10, 11},
             .least_inputs = 2,
             .most_inputs = 5,
             .types = {.operands = {float_types, float_types, index_types, float_types},
                       .results = {ElementType::s64}},
             .attributes = {"center_point_box"},
             .decides = {2, 3, 4},
             .lower = &non_max_suppression});
}

}  // namespace stoker::onnx::operators::detection
