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
  std::size_t behind = 0;                ///< axes behind theirs
  std::optional<std::size_t> rank = {};  ///< of the value; nothing if it is not certain
  ElementType type = ElementType::undefined;
};

/// x · factor + shift, a number of each for each channel.
struct ScaleAndShift {
  std::vector<double> factor, shift;
};

/// Of a Mul, Div, Add or Sub of operand `i`, which has these channels, with a constant that broadcasts to it along no
/// other axis. Nothing if it is none.
[[nodiscard]] std::optional<ScaleAndShift> scale_and_shift(const GraphEditor& graph,
                                                           const Node& node, std::size_t i,
                                                           const Channels& channels);
/// Of a BatchNormalization of so many channels. Nothing if it trains, or if a number is not constant.
[[nodiscard]] std::optional<ScaleAndShift> normalization_of(const GraphEditor& graph,
                                                            const Node& node, std::size_t channels);

}  // namespace stoker::onnx
