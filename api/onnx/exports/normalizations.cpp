// Normalizations along axes.
#include "stoker/api/onnx/exporting/export_table.hpp"

namespace stoker::onnx::exports::normalizations {
namespace {

Names softmax(ExportCall& call) {
  return {call.node("Softmax", {call.x()}, {{"axis", call.axis("axis")}})};
}

/// Before opset 17 there is no operator of its own.
std::string written_out(const ExportCall& call, std::int64_t axis) {
  std::vector<std::int64_t> axes;
  for (auto one = axis; one < static_cast<std::int64_t>(call.rank()); ++one) axes.push_back(one);
  const auto mean = [&](const std::string& x) {
    return call.node("ReduceMean", {x}, {{"axes", axes}, {"keepdims", std::int64_t{1}}});
  };
  const std::string centred = call.node("Sub", {call.x(), mean(call.x())});
  const std::string variance = mean(call.node("Mul", {centred, centred}));
  const std::string epsilon = call.graph().scalar(call.real("epsilon"), call.dtype());
  const std::string deviation = call.node("Sqrt", {call.node("Add", {variance, epsilon})});
  std::string y = call.node("Div", {centred, deviation});
  if (call.count() > 1) y = call.node("Mul", {y, call.x(1)});
  if (call.count() > 2) y = call.node("Add", {y, call.x(2)});
  return y;
}

Names layer_norm(ExportCall& call) {
  const std::int64_t axis = call.axis("axis");
  if (call.opset() < 17) return {written_out(call, axis)};
  Names operands = call.operands();
  if (operands.size() == 1) {
    const ExtentList shape = call.shape();
    const ExtentList normalized(shape.begin() + axis, shape.end());
    operands.push_back(
        call.node("Expand", {call.graph().scalar(1, call.dtype()), call.graph().dims(normalized)}));
  }
  return {call.node("LayerNormalization", operands,
                    {{"axis", axis}, {"epsilon", static_cast<float>(call.real("epsilon"))}})};
}

}  // namespace

void define(ExportTable& table) {
  table.add("softmax", &softmax);
  table.add("layer_norm", &layer_norm);
}

}  // namespace stoker::onnx::exports::normalizations
