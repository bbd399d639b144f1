#include "stoker/api/onnx/optimize/channel_scales.hpp"

#include <cmath>

#include "stoker/api/onnx/optimize/weights.hpp"

namespace stoker::onnx {
namespace {

std::optional<std::vector<double>> by_channel(const TensorData* tensor, const Channels& channels) {
  if (tensor == nullptr || tensor->type != channels.type) return {};
  const std::size_t axes = tensor->dims.size();
  // Of a MatMul's operand and result only this much is certain: they have columns.
  if (axes > channels.rank.value_or(1)) return {};
  for (std::size_t i = 0; i < axes; ++i) {
    const bool is_channel = axes - 1 - i == channels.behind;
    const std::int64_t extent = tensor->dims[i];
    if (extent != 1 && !(is_channel && extent == static_cast<std::int64_t>(channels.count)))
      return {};
  }
  auto numbers = reals_of(tensor);
  if (numbers) numbers->resize(channels.count, numbers->at(0));
  return numbers;
}

}  // namespace

std::optional<ScaleAndShift> scale_and_shift(const GraphEditor& graph, const Node& node,
                                             std::size_t i, const Channels& channels) {
  const bool scales = is(node, "Mul") || is(node, "Div");
  const bool shifts = is(node, "Add") || is(node, "Sub");
  if ((!scales && !shifts) || node.opset < 7) return {};
  const bool turns = is(node, "Div") || is(node, "Sub");
  // c / y is no scale; c - y is -1 times y, plus c.
  if (is(node, "Div") && i == 1) return {};
  auto numbers = by_channel(graph.constant(node.inputs.at(1 - i)), channels);
  if (!numbers) return {};
  ScaleAndShift made{.factor = std::vector<double>(channels.count, 1),
                     .shift = std::vector<double>(channels.count, 0)};
  if (scales) {
    made.factor = std::move(*numbers);
    if (turns)
      for (double& one : made.factor) one = 1 / one;
  } else {
    made.shift = std::move(*numbers);
    if (turns && i == 0)
      for (double& one : made.shift) one = -one;
    if (turns && i == 1) made.factor.assign(channels.count, -1);
  }
  return made;
}

std::optional<ScaleAndShift> normalization_of(const GraphEditor& graph, const Node& node,
                                              std::size_t channels) {
  if (!is(node, "BatchNormalization") || node.outputs.size() != 1 || node.opset < 7 ||
      node.flag("training_mode", false) || !node.flag("spatial", true))
    return {};
  std::vector<double> of[4];  // scale, bias, mean, variance
  for (std::size_t i = 0; i < 4; ++i) {
    const auto numbers = reals_of(graph.constant(node.inputs.at(i + 1)));
    if (!numbers || numbers->size() != channels) return {};
    of[i] = *numbers;
  }
  const auto epsilon = static_cast<double>(node.real("epsilon", 1e-5F));
  ScaleAndShift made;
  for (std::size_t i = 0; i < channels; ++i) {
    made.factor.push_back(of[0][i] / std::sqrt(of[3][i] + epsilon));
    made.shift.push_back(of[1][i] - of[2][i] * made.factor[i]);
  }
  return made;
}

}  // namespace stoker::onnx
