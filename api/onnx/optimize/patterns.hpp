// Common functions of the passes that look for written-out operators.
//
// Pure functions; any thread. Errors are thrown: invalid_argument for attributes of another kind.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {

/// number · factor · …: a chain of Mul, and Div by a constant, whose intermediate values have no other readers.
/// Constants of f64 count as factors, because patterns know their numbers only with the rounding of f32.
struct Product {
  double number = 1;
  std::vector<std::string> factors;

  [[nodiscard]] bool is(double wanted, std::size_t count) const;
};
/// The product of a value; a value that is not a product is its own only factor.
[[nodiscard]] Product product_of(const GraphEditor& graph, const std::string& name);
/// The same for a node, whatever reads it.
[[nodiscard]] Product product_of(const GraphEditor& graph, const Node& node);
/// The other operand of an addition, in either order, of a constant close to this number.
[[nodiscard]] std::optional<std::string> beside_sum(const GraphEditor& graph, const Node& node,
                                                    double number);
/// Whether they differ by no more than the rounding of f32, plus a digit that exporters drop.
[[nodiscard]] bool is_near(double a, double b);
/// The writer of a value, if it is of this operator and the value has no other reader.
[[nodiscard]] Node* private_writer(const GraphEditor& graph, std::string_view name,
                                   std::string_view op);
/// x if the value is Pow(x, 2) or Mul(x, x).
[[nodiscard]] std::optional<std::string> squared(const GraphEditor& graph, std::string_view name);

/// The axes of a reduction with keepdims, sorted; nothing if it drops them, or if they are not constant.
[[nodiscard]] std::optional<std::vector<std::int64_t>> kept_axes(const GraphEditor& graph,
                                                                 const Node& node);

/// The extents of the parts that a Split declares; nothing if it declares none, or if they are not
/// constant.
[[nodiscard]] std::optional<std::vector<std::int64_t>> part_sizes(const GraphEditor& graph,
                                                                  const Node& node);

/// d / sqrt(mean of d² + epsilon) over the last axes, and the scale that multiplies it.
struct Normalized {
  std::string deviation;  ///< d
  std::vector<std::int64_t> axes;
  std::size_t last_axes = 0;
  double epsilon = 0;
  std::string scale;  ///< a constant over these axes
};
/// The normalization whose last node is `node`, the Mul by the scale.
[[nodiscard]] std::optional<Normalized> normalized_by(const GraphEditor& graph, const Node& node);

/// The bounds of a Relu or Clip; nothing if a bound is not a constant float, or if no number lies between them.
struct ClipBounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  ElementType type = ElementType::undefined;  ///< the type of a bound that is an operand
};
[[nodiscard]] std::optional<ClipBounds> clip_bounds(const GraphEditor& graph, const Node& node);

}  // namespace stoker::onnx
