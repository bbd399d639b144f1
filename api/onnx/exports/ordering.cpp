// Elements in order, and running sums.
#include "stoker/api/onnx/exporting/wide_rule.hpp"

namespace stoker::onnx::exports::ordering {
namespace {

/// Values and positions.
Names ordered(const ExportCall& call, const Extent& count, std::int64_t axis, bool largest_first) {
  return call.graph().nodes(
      "TopK", {call.x(), call.graph().dims({count})},
      {{"axis", axis}, {"largest", std::int64_t{largest_first}}, {"sorted", std::int64_t{1}}}, 2);
}

Names sorted(ExportCall& call) {
  const std::int64_t axis = call.axis("axis");
  return ordered(call, call.shape()[static_cast<std::size_t>(axis)], axis,
                 call.text("direction") == "desc");
}

Names largest(ExportCall& call) {
  const Names made =
      ordered(call, call.extent("k"), static_cast<std::int64_t>(call.rank()) - 1, true);
  return {made[0], call.cast(made[1], DType::s64, call.out_dtype(1))};
}

Names running_sum(ExportCall& call) {
  const std::string axis = call.graph().scalar(static_cast<double>(call.axis("axis")), DType::s64);
  return {call.node("CumSum", {call.x(), axis}, {{"reverse", std::int64_t{call.flag("reverse")}}})};
}

}  // namespace

void define(ExportTable& table) {
  table.add("sort", wide_rule(no_bf16, [](ExportCall& call) { return Names{sorted(call)[0]}; }));
  table.add("argsort", wide_rule(no_bf16, [](ExportCall& call) {
              return Names{call.cast(sorted(call)[1], DType::s64, call.out_dtype())};
            }));
  table.add("top_k", wide_rule(no_bf16, &largest));
  table.add("cumulative_sum", wide_rule(&halves_since<14>, &running_sum));
}

}  // namespace stoker::onnx::exports::ordering
