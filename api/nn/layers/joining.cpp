// Several inputs as one: element by element, side by side, or one of several.
#include <algorithm>

#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn::layers::joining {
namespace {

constexpr std::size_t any_number = 1U << 20;

/// Rows broadcast to each other as in NumPy; what comes out is folded from the left.
void add_folded(LayerTable& table, const char* name, const char* summary,
                Tensor (*fold)(const Tensor&, const Tensor&)) {
  table.add({.name = name,
             .summary = summary,
             .least_inputs = 2,
             .most_inputs = any_number,
             .apply = [fold](LayerCall& call) {
               Tensor joined = call.x();
               for (const Tensor& one : call.inputs().subspan(1)) joined = fold(joined, one);
               return std::vector<Tensor>{joined};
             }});
}

std::vector<Tensor> side_by_side(LayerCall& call) {
  const std::int64_t axis = call.options().integer("axis");
  if (axis == 0)
    throw Error{"concatenate",
                ErrorCode::invalid_parameter,
                "axis 0 is the batch",
                {{"parameter", "axis"}, {"got", "0"}}};
  return {stoker::concatenate(call.inputs(), axis)};
}

/// [batch, …] flattened and put side by side: [batch, all features]. Those that `ignore` counts,
/// from 0 on, are left out.
std::vector<Tensor> columns(LayerCall& call) {
  const std::vector<std::int64_t>& ignored = call.options().integers("ignore");
  std::vector<Tensor> flat;
  for (std::size_t i = 0; i < call.inputs().size(); ++i) {
    if (std::ranges::find(ignored, static_cast<std::int64_t>(i)) != ignored.end()) continue;
    const Tensor& one = call.x(i);
    flat.push_back(one.rank() == 2 ? one : stoker::reshape(one, {one.shape()[0], -1}));
  }
  if (flat.empty())
    throw Error{"stack_columns",
                ErrorCode::invalid_parameter,
                "ignore: every input is left out",
                {{"parameter", "ignore"}, {"got", to_string(ParamValue{ignored})}}};
  return {stoker::concatenate(flat, 1)};
}

/// Of those that are there.
std::vector<Tensor> first_given(LayerCall& call) {
  const Tensor* found = nullptr;
  for (const Tensor& one : call.inputs()) {
    if (!one.has_value()) continue;
    if (!found) found = &one;
    if (one.spec() != found->spec())
      throw Error{
          "or_else",
          one.shape() != found->shape() ? ErrorCode::shape_mismatch : ErrorCode::dtype_mismatch,
          "expected inputs of one shape and dtype, got " + found->spec().to_string() + " and " +
              one.spec().to_string(),
          {{"one", found->spec().to_string()}, {"other", one.spec().to_string()}}};
  }
  return {*found};
}

/// A condition of rank 1 is one for each row.
std::vector<Tensor> one_of_two(LayerCall& call) {
  Tensor condition = call.x();
  const std::size_t rank = std::max(call.x(1).rank(), call.x(2).rank());
  if (condition.rank() == 1 && rank > 1) {
    std::vector<std::int64_t> extents(rank, 1);
    extents[0] = condition.shape()[0];
    condition = stoker::reshape(condition, extents);
  }
  return {select(condition, call.x(1), call.x(2))};
}

}  // namespace

void define(LayerTable& table) {
  add_folded(table, "add", "the sum of all inputs",
             [](const Tensor& a, const Tensor& b) { return a + b; });
  add_folded(table, "subtract", "the first input less all others",
             [](const Tensor& a, const Tensor& b) { return a - b; });
  add_folded(table, "multiply", "the product of all inputs",
             [](const Tensor& a, const Tensor& b) { return a * b; });
  table.add({.name = "concatenate",
             .summary = "inputs side by side along an axis",
             .options = {{.name = "axis",
                          .type = ParamType::integer,
                          .fallback = std::int64_t{-1},
                          .doc = "not 0, which is the batch"}},
             .most_inputs = any_number,
             .apply = &side_by_side});
  table.add({.name = "stack_columns",
             .summary = "the features of all inputs side by side",
             .options = {{.name = "ignore",
                          .type = ParamType::integers,
                          .fallback = std::vector<std::int64_t>{},
                          .doc = "inputs that are left out, counted from 0",
                          .min = 0}},
             .most_inputs = any_number,
             .apply = &columns});
  table.add({.name = "or_else",
             .summary = "the first input that is there",
             .least_inputs = 2,
             .most_inputs = any_number,
             .apply = &first_given,
             .when_missing = WhenMissing::any});
  table.add({.name = "cond",
             .summary = "the second input where the first is not 0, else the third",
             .least_inputs = 3,
             .most_inputs = 3,
             .apply = &one_of_two});
}

}  // namespace stoker::nn::layers::joining
