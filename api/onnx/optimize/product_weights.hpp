// Convolutions and products whose weights are constants: what scales and shifts their results goes into the weights.
//
// Threads: those of the editor.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {

/// A Conv, ConvTranspose, Gemm or MatMul whose weights and bias are f32 or f64 constants.
struct WeightedProduct {
  Node* node = nullptr;
  std::size_t channels = 0;              ///< of its result
  std::optional<std::size_t> rank = {};  ///< of its result; nothing if it depends on the operand
  std::size_t behind = 0;                ///< axes behind that of the channels
  bool takes_bias = false;               ///< MatMul does not
  ElementType type = ElementType::undefined;
};
/// Of a value that nothing else reads.
[[nodiscard]] std::optional<WeightedProduct> weighted_product(const GraphEditor& graph,
                                                              std::string_view result);
/// Makes the result, for each channel, what it was times `factor` plus `shift`. `shift` is empty or as many as
/// `factor`, and empty unless the product takes a bias. False, and nothing has changed, if a number is not finite or
/// the weights would become too large.
[[nodiscard]] bool absorb(GraphEditor& graph, const WeightedProduct& product,
                          std::span<const double> factor, std::span<const double> shift);

}  // namespace stoker::onnx
