// Several inputs as one: element by element, or side by side. Row A-023 of ../shared/op-checklist.md.
#include "stoker/api/nn/layer.hpp"

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

/// [batch, …] flattened and put side by side: [batch, all features].
std::vector<Tensor> columns(LayerCall& call) {
  std::vector<Tensor> flat;
  for (const Tensor& one : call.inputs())
    flat.push_back(one.rank() == 2 ? one : stoker::reshape(one, {one.shape()[0], -1}));
  return {stoker::concatenate(flat, 1)};
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
             .most_inputs = any_number,
             .apply = &columns});
}

}  // namespace stoker::nn::layers::joining
