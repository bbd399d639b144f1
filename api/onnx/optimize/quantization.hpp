// Floats that represent 8-bit integers: the constant parameters of the DequantizeLinear and QuantizeLinear
// around them.
//
// Pure functions; any thread. Errors are thrown: invalid_argument for attributes of another kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/api/onnx/core/integer_sums.hpp"
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
/// The name of its zero point; where there is none, that of a new constant.
[[nodiscard]] std::string zero_point_of(GraphEditor& graph, const Quantized& of);

/// The integers of a type of 8 bits, and the one that stands for 0.
struct Steps {
  IntegerEnds ends;
  double zero;
};
/// Nothing unless one scale above 0 and a constant zero point stand for all.
[[nodiscard]] std::optional<Steps> steps_of(const GraphEditor& graph, const Quantized& of);
/// The integers that these two numbers become. Quantising keeps the order of numbers, so that to clip before it to
/// these numbers is to clip behind it to these integers. Nothing where steps_of() says nothing.
[[nodiscard]] std::optional<IntegerEnds> quantized_ends(const GraphEditor& graph,
                                                        const Quantized& to, double least,
                                                        double most);

/// The operands of a Conv, MatMul or Gemm that a DequantizeLinear made of 8-bit integers. All of x have one scale;
/// all of w have one, or each output or column its own. Nothing of a convolution whose groups have few channels on the
/// CPU, which takes many times as long in integers, while its weights are few.
struct QuantizedFactors {
  Quantized x, w;

  /// Of the sums of their products: one, or one for each output or column.
  [[nodiscard]] std::vector<double> scales() const;
};
[[nodiscard]] std::optional<QuantizedFactors> quantized_factors(const GraphEditor& graph,
                                                                const Node& node);

}  // namespace stoker::onnx
