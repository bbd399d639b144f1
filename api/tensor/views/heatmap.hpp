// A picture of a matrix in a terminal.
//
// Threads: any. Waits for the values; throws shape_mismatch for a scalar, and what computing them throws.
#pragma once

#include <string>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

struct Heatmap {
  bool ansi = false;  ///< 24 greys of a terminal with 256 colours, instead of " ░▒▓█"
};

/// Two columns of text for each element, the smallest darkest, on a line for each row; the matrices of
/// further axes one below the other. What is not finite is "??".
[[nodiscard]] std::string to_heatmap(const Tensor& x, Heatmap how = {});

}  // namespace stoker
