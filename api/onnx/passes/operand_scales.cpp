// Batch normalization, or constants that multiply or are added to channels, before a convolution or a product: they go
// into its weights and bias.
#include "stoker/api/onnx/optimize/pass.hpp"
#include "stoker/api/onnx/optimize/product_weights.hpp"

namespace stoker::onnx::passes::operand_scales {
namespace {

/// Whether a value has as many channels, before the node that scales it broadcasts it to these.
bool has_channels(const GraphEditor& graph, std::string_view name, const Channels& channels) {
  return graph.extent_of(name, channels.behind == 0 ? -1 : 1) ==
         static_cast<std::int64_t>(channels.count);
}

/// Of operand `i` of a node whose result has these channels.
std::optional<ScaleAndShift> scale_of(const GraphEditor& graph, const Node& node, std::size_t i,
                                      Channels channels) {
  const std::string& name = node.inputs.at(i);
  if (is(node, "BatchNormalization")) {
    // The channels are the second axis, which is a product's last one only of a matrix.
    if (i != 0 || (channels.behind == 0 && channels.rank != 2) ||
        !has_channels(graph, name, channels))
      return {};
    return normalization_of(graph, node, channels.count);
  }
  channels.rank = graph.rank_of(name);
  auto made = scale_and_shift(graph, node, i, channels);
  if (!made) return {};
  // What has one element broadcasts nothing, unless it adds an axis.
  const TensorData& numbers = *graph.constant(node.inputs.at(1 - i));
  const bool is_number = numbers.dims.empty() || (numbers.elements() == 1 && channels.behind != 0);
  return is_number || has_channels(graph, name, channels) ? made : std::nullopt;
}

/// What multiplies by the weights afterwards; null if there is nothing to take.
Node* take(GraphEditor& graph, Node& node) {
  const auto product = weighted_product(graph, node);
  if (!product || !product->operand || !graph.is_read_once(node.inputs[0])) return nullptr;
  Node* const scale = graph.writer(node.inputs[0]);
  if (scale == nullptr || scale->inputs.size() < 2) return nullptr;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto numbers = scale_of(graph, *scale, i, *product->operand);
    if (!numbers) continue;
    const std::string x = scale->inputs[i];
    Node* const made = absorb_before(graph, *product, *numbers);
    if (made == nullptr) return nullptr;
    graph.set_input(*made, 0, x);
    graph.remove(*scale);
    return made;
  }
  return nullptr;
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    for (Node* at = &node; at != nullptr;) at = take(graph, *at);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "operand_scales",
             .summary =
                 "BatchNormalization, and Mul, Div, Add and Sub of a constant for each channel, "
                 "are merged into the weights and bias of the Conv, ConvTranspose, Gemm or MatMul "
                 "behind them, except with a precision of 16 bits; shifts are merged only up to "
                 "16, only where nothing is padded, and not into a ConvTranspose",
             .level = Optimize::all,
             .stage = PassStage::weights,
             .changes_ranges = true,
             .run = &run});
}

}  // namespace stoker::onnx::passes::operand_scales
