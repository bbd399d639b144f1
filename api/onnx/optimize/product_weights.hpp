// Convolutions and products whose weights are constants: what scales and shifts their operands and results goes into
// the weights.
//
// Threads: those of the editor.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "stoker/api/onnx/optimize/channel_scales.hpp"

namespace stoker::onnx {

/// A Conv, ConvTranspose, Gemm or MatMul whose weights and bias are f32 or f64 constants.
struct WeightedProduct {
  Node* node = nullptr;
  std::optional<Channels> operand =
      {};  ///< of what the weights multiply; none for Gemm with transA
  Channels result = {};
  bool takes_bias = false;  ///< MatMul does not
};
[[nodiscard]] std::optional<WeightedProduct> weighted_product(const GraphEditor& graph, Node& node);
/// Of a value that nothing else reads.
[[nodiscard]] std::optional<WeightedProduct> weighted_product(const GraphEditor& graph,
                                                              std::string_view result);
/// Makes the result, for each channel, what it was times `factor` plus `shift`. `shift` is empty or as many as
/// `factor`, and empty unless the product takes a bias. False, and nothing has changed, if a number is not finite or
/// the weights would become too large.
[[nodiscard]] bool absorb(GraphEditor& graph, const WeightedProduct& product,
                          std::span<const double> factor, std::span<const double> shift);
/// Makes the result what it would be of the operand's channels times `factor` plus `shift`, and returns the node that
/// multiplies by the weights from now on: behind a MatMul there is an Add, then. Null, and nothing has changed:
/// - if a number is not finite, a weight would be too small for its digits, or the weights would take too many bytes;
/// - if a shift is so large that the result would lose digits by it;
/// - if elements of the result may miss some of the weights, so that a shift is not the same for all of them.
/// Precondition: product.operand.
[[nodiscard]] Node* absorb_before(GraphEditor& graph, const WeightedProduct& product,
                                  const ScaleAndShift& scale);

}  // namespace stoker::onnx
