// Convolutions and products with constant weights: scales and shifts of their operands and results are merged into
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
      {};  ///< channels of the operand that the weights multiply; none for Gemm with transA
  Channels result = {};
  bool takes_bias = false;  ///< false for MatMul
};
[[nodiscard]] std::optional<WeightedProduct> weighted_product(const GraphEditor& graph, Node& node);
/// The product that writes a value which has no other reader.
[[nodiscard]] std::optional<WeightedProduct> weighted_product(const GraphEditor& graph,
                                                              std::string_view result);
/// Multiplies each channel of the result by `factor` and adds `shift`. `shift` is empty or as long as `factor`, and
/// must be empty if the product takes no bias. Returns false and changes nothing if a number is not finite or the
/// weights would become too large.
[[nodiscard]] bool absorb(GraphEditor& graph, const WeightedProduct& product,
                          std::span<const double> factor, std::span<const double> shift);
/// Merges into the weights that the operand's channels are multiplied by `factor` and then shifted by `shift`.
/// Returns the node that now multiplies by the weights; a MatMul with a shift is followed by an Add. Returns null and
/// changes nothing:
/// - if a number is not finite, a weight would become so small that it loses digits, or the weights would take too
///   many bytes;
/// - if a shift is so large that the result would lose digits;
/// - if elements of the result may use only some of the weights, so that the shift would differ between them.
/// Precondition: product.operand.
[[nodiscard]] Node* absorb_before(GraphEditor& graph, const WeightedProduct& product,
                                  const ScaleAndShift& scale);

}  // namespace stoker::onnx
