// Nodes that multiply the channels of a value by constants and add others.
//
// Pure functions; any thread. Errors are thrown: invalid_argument for attributes of another kind.
#pragma once

#include <optional>
#include <vector>

#include "stoker/api/onnx/optimize/graph_editor.hpp"

namespace stoker::onnx {

/// The channels of a value.
struct Channels {
  std::size_t count = 0;
  std::size_t behind = 0;                ///< number of axes after the channel axis
  std::optional<std::size_t> rank = {};  ///< rank of the value; nothing if it is not certain
  ElementType type = ElementType::undefined;
};

/// x · factor + shift, with one factor and one shift for each channel.
struct ScaleAndShift {
  std::vector<double> factor, shift;
};

/// The scale and shift of a Mul, Div, Add or Sub of operand `i`, which has these channels, with a constant that
/// varies only along them. Nothing for other nodes.
[[nodiscard]] std::optional<ScaleAndShift> scale_and_shift(const GraphEditor& graph,
                                                           const Node& node, std::size_t i,
                                                           const Channels& channels);
/// The scale and shift of a BatchNormalization with that many channels. Nothing if it is in training
/// mode, or if a number is not constant.
[[nodiscard]] std::optional<ScaleAndShift> normalization_of(const GraphEditor& graph,
                                                            const Node& node, std::size_t channels);

}  // namespace stoker::onnx
