#include "stoker/api/nn/layers/joining.hpp"

#include <algorithm>

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {
namespace layers::joining {
namespace {

constexpr std::size_t any_number = 1U << 20;

template <class O>
void add_folded(LayerTable& table, const char* summary,
                Tensor (*fold)(const Tensor&, const Tensor&)) {
  table.add<O>({.summary = summary,
                .least_inputs = 2,
                .most_inputs = any_number,
                .apply = [fold](LayerCall& call, const O&) {
                  Tensor joined = call.x();
                  for (const Tensor& one : call.inputs().subspan(1)) joined = fold(joined, one);
                  return std::vector<Tensor>{joined};
                }});
}

std::vector<Tensor> side_by_side(LayerCall& call, const Concatenate& options) {
  const std::int64_t axis = options.axis;
  if (axis == 0)
    throw Error{"concatenate",
                ErrorCode::invalid_parameter,
                "axis 0 is the batch",
                {{"parameter", "axis"}, {"got", "0"}}};
  return {stoker::concatenate(call.inputs(), axis)};
}

/// [batch, …] flattened and put side by side: [batch, all features]. Those that `ignore` counts,
/// from 0 on, are left out.
std::vector<Tensor> columns(LayerCall& call, const StackColumns& options) {
  const std::vector<std::int64_t>& ignored = options.ignore.list();
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
std::vector<Tensor> first_given(LayerCall& call, const OrElse&) {
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

std::vector<Tensor> one_of_two(LayerCall& call, const Cond&) {
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
  add_folded<Add>(table, "the sum of all inputs",
                  [](const Tensor& a, const Tensor& b) { return a + b; });
  add_folded<Subtract>(table, "the first input minus all others",
                       [](const Tensor& a, const Tensor& b) { return a - b; });
  add_folded<Multiply>(table, "the product of all inputs",
                       [](const Tensor& a, const Tensor& b) { return a * b; });
  table.add<Concatenate>({.summary = "the inputs joined along an axis",
                          .most_inputs = any_number,
                          .apply = &side_by_side});
  table.add<StackColumns>({.summary = "the features of all inputs joined along the last axis",
                           .most_inputs = any_number,
                           .apply = &columns});
  table.add<OrElse>({.summary = "the first input that is given",
                     .least_inputs = 2,
                     .most_inputs = any_number,
                     .apply = &first_given,
                     .when_missing = WhenMissing::any});
  table.add<Cond>({.summary = "the second input where the first is not 0, else the third",
                   .least_inputs = 3,
                   .most_inputs = 3,
                   .apply = &one_of_two});
}

}  // namespace layers::joining

Node add(std::vector<Node> inputs, const layers::Add& options) {
  return Layer{options}(std::move(inputs));
}

Node concatenate(std::vector<Node> inputs, std::int64_t axis, layers::Concatenate options) {
  give(options, &layers::Concatenate::axis, axis);
  return Layer{options}(std::move(inputs));
}

Node or_else(const Node& a, const Node& b, const layers::OrElse& options) {
  return Layer{options}(std::vector<Node>{a, b});
}

}  // namespace stoker::nn
