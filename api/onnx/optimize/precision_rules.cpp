#include "stoker/api/onnx/optimize/precision_rules.hpp"

#include <algorithm>
#include <array>

#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {
namespace {

using enum Narrowing;

constexpr std::uint16_t first = 0b1;
constexpr std::uint16_t first_two = 0b11;
constexpr std::uint16_t first_three = 0b111;
constexpr std::uint16_t all = 0xffff;

constexpr auto rules = std::to_array<PrecisionRule>({
    // Products.
    {"Conv", gains, first_three},
    {"ConvTranspose", gains, first_three},
    {"Einsum", gains},
    {"GRU", gains, 0b101111, first_two},
    {"Gemm", gains, first_three},
    {"LSTM", gains, 0b11101111, first_three},
    {"MatMul", gains, first_two},
    {"RNN", gains, 0b101111, first_two},
    // Elements in other places.
    {"Concat", follows},
    {"DepthToSpace", follows},
    {"Dropout", follows, first},
    {"Expand", follows, first},
    {"Flatten", follows},
    {"Gather", follows, first},
    {"GatherElements", follows, first},
    {"GatherND", follows, first},
    {"Identity", follows},
    {"MaxPool", follows},
    {"Pad", follows, 0b101},
    {"Reshape", follows, first},
    {"Slice", follows, first},
    {"SpaceToDepth", follows},
    {"Split", follows, first, all},
    {"Squeeze", follows, first},
    {"Tile", follows, first},
    {"Transpose", follows},
    {"Trilu", follows, first},
    {"Unsqueeze", follows, first},
    {"Where", follows, 0b110},
    // Functions of elements that stay near to their operands, or between bounds.
    {"Abs", follows},
    {"Add", follows},
    {"Celu", follows},
    {"Clip", follows, first_three},
    {"Div", follows},
    {"Elu", follows},
    {"Erf", follows},
    {"Gelu", follows},
    {"HardSigmoid", follows},
    {"HardSwish", follows},
    {"LeakyRelu", follows},
    {"Max", follows},
    {"Min", follows},
    {"Mish", follows},
    {"Mul", follows},
    {"Neg", follows},
    {"PRelu", follows},
    {"Relu", follows},
    {"Selu", follows},
    {"Sigmoid", follows},
    {"Softsign", follows},
    {"Sub", follows},
    {"Sum", follows},
    {"Swish", follows},
    {"Tanh", follows},
    {"ThresholdedRelu", follows},
    // Means and normalizations, whose sums are f32. Scales stay as they are: they would be widened in each run.
    {"AveragePool", follows},
    {"BatchNormalization", follows, first, first, 15},
    {"GlobalAveragePool", follows},
    {"GlobalMaxPool", follows},
    {"GroupNormalization", follows, first},
    {"InstanceNormalization", follows, first},
    {"LayerNormalization", follows, first},
    {"RMSNormalization", follows},  // its scale decides about the result
    {"Softmax", follows},
    // What reads no element, or is a conversion itself.
    {"Cast", other, 0},
    {"CastLike", other, 0},
    {"Shape", other, 0},
    {"Size", other, 0},
    // What leaves the range of f16, or loses its digits.
    {"Acosh", sensitive},
    {"Asinh", sensitive},
    {"Atanh", sensitive},
    {"AffineGrid", sensitive},
    {"Cos", sensitive},
    {"Cosh", sensitive},
    {"CumProd", sensitive},
    {"CumSum", sensitive},
    {"DFT", sensitive},
    {"Det", sensitive},
    {"Exp", sensitive},
    {"GridSample", sensitive},
    {"LRN", sensitive},
    {"Log", sensitive},
    {"LogSoftmax", sensitive},
    {"LpNormalization", sensitive},
    {"LpPool", sensitive},
    {"MeanVarianceNormalization", sensitive},
    {"NegativeLogLikelihoodLoss", sensitive},
    {"Pow", sensitive},
    {"Range", sensitive},
    {"Reciprocal", sensitive},
    {"ReduceL1", sensitive},
    {"ReduceL2", sensitive},
    {"ReduceLogSum", sensitive},
    {"ReduceLogSumExp", sensitive},
    {"ReduceMean", sensitive},
    {"ReduceProd", sensitive},
    {"ReduceSum", sensitive},
    {"ReduceSumSquare", sensitive},
    {"Resize", sensitive},
    {"RoiAlign", sensitive},
    {"RotaryEmbedding", sensitive},
    {"STFT", sensitive},
    {"Sin", sensitive},
    {"Sinh", sensitive},
    {"SoftmaxCrossEntropyLoss", sensitive},
    {"Softplus", sensitive},
    {"Sqrt", sensitive},
    {"Tan", sensitive},
    {"Upsample", sensitive},
});

/// A number times itself leaves the range of f16 beyond 255.
bool is_square(const Node& node) {
  return is(node, "Mul") && node.inputs.size() == 2 && node.inputs[0] == node.inputs[1];
}

}  // namespace

PrecisionRule precision_rule(const Node& node) {
  const auto* const found =
      std::ranges::find_if(rules, [&](const PrecisionRule& rule) { return is(node, rule.op); });
  if (found == rules.end() || node.opset < found->since) return {};
  PrecisionRule rule = *found;
  if (is_square(node)) rule.kind = sensitive;
  return rule;
}

bool gains_on(const DeviceInfo& device, DType dtype) noexcept {
  return device.type != DeviceType::cpu &&
         std::ranges::find(device.dtypes, dtype) != device.dtypes.end();
}

}  // namespace stoker::onnx
