// What the passes that look for written-out operators have in common.
//
// Pure functions; any thread. Errors are thrown: invalid_argument for attributes of another kind.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {

/// number · factor · …: what Mul, and Div by a constant, make of one another where nothing else reads them. Numbers of
/// f64 are factors, for patterns know theirs as f32 rounds them only.
struct Product {
  double number = 1;
  std::vector<std::string> factors;

  [[nodiscard]] bool is(double wanted, std::size_t count) const;
};
/// Of a value; one that is no product has itself as its only factor.
[[nodiscard]] Product product_of(const GraphEditor& graph, const std::string& name);
/// The same of a node, whatever reads it.
[[nodiscard]] Product product_of(const GraphEditor& graph, const Node& node);
/// Of an addition, in any order: the operand beside a constant number near to this.
[[nodiscard]] std::optional<std::string> beside_sum(const GraphEditor& graph, const Node& node,
                                                    double number);
/// Whether they differ by no more than f32 rounds, and a digit that exporters drop.
[[nodiscard]] bool is_near(double a, double b);
/// The writer, of this operator, of a value that nothing else reads.
[[nodiscard]] Node* private_writer(const GraphEditor& graph, std::string_view name,
                                   std::string_view op);
/// The square of what: Pow(x, 2) or Mul(x, x).
[[nodiscard]] std::optional<std::string> squared(const GraphEditor& graph, std::string_view name);

/// The axes of a reduction that keeps them, sorted; nothing if it drops them, or if they are not constant.
[[nodiscard]] std::optional<std::vector<std::int64_t>> kept_axes(const GraphEditor& graph,
                                                                 const Node& node);

/// The extents that a Split says its parts have; nothing if it says none, or if they are not constant.
[[nodiscard]] std::optional<std::vector<std::int64_t>> part_sizes(const GraphEditor& graph,
                                                                  const Node& node);

/// (d - nothing) / sqrt(mean of d² + epsilon) over the last axes, and what then scales it.
struct Normalized {
  std::string deviation;  ///< d
  std::vector<std::int64_t> axes;
  std::size_t last_axes = 0;
  double epsilon = 0;
  std::string scale;  ///< a constant over these axes
};
/// Of the Mul by the scale.
[[nodiscard]] std::optional<Normalized> normalized_by(const GraphEditor& graph, const Node& node);

/// What Relu or Clip says; nothing if a bound is no constant float, or if the bounds leave nothing between them.
struct ClipBounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  ElementType type = ElementType::undefined;  ///< that of a bound that is an operand
};
[[nodiscard]] std::optional<ClipBounds> clip_bounds(const GraphEditor& graph, const Node& node);

}  // namespace stoker::onnx
