// Floats that represent 8-bit integers: the constant parameters of the DequantizeLinear and QuantizeLinear
// around them.
//
// Pure functions; any thread. Errors are thrown: invalid_argument for attributes of another kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {

/// Integers with constant scales of f32: the operand of a DequantizeLinear, or the result of a
/// QuantizeLinear.
struct Quantized {
  std::string numbers;
  std::string scale;
  std::string zero_point;  ///< empty: 0
  ElementType type = ElementType::undefined;
  std::vector<double> scales;  ///< one, or one for each index of `axis`
  std::int64_t axis = 0;

  /// Whether the integers have 8 bits.
  [[nodiscard]] bool is_byte() const noexcept;
  /// Whether there is one scale for all.
  [[nodiscard]] bool is_uniform() const noexcept { return scales.size() == 1; }
};
/// The integers from which a DequantizeLinear to f32 computes the value; nothing if the value is
/// not its result.
[[nodiscard]] std::optional<Quantized> dequantized_from(const GraphEditor& graph,
                                                        std::string_view value);
/// The result of a QuantizeLinear; nothing for another node, or if there is more than one scale.
[[nodiscard]] std::optional<Quantized> quantized_by(const GraphEditor& graph, const Node& node);
/// The zero point of uniform integers; nothing if it is not constant.
[[nodiscard]] std::optional<double> zero_of(const GraphEditor& graph, const Quantized& of);
/// Whether equal integers represent equal floats, which are exact enough to be quantized back to these integers.
/// False unless both are uniform.
[[nodiscard]] bool is_alike(const GraphEditor& graph, const Quantized& a, const Quantized& b);

}  // namespace stoker::onnx
