// A picture of a matrix in a terminal.
//
// Threads: any. Blocks until the values are computed. Throws shape_mismatch for a scalar, and
// errors of the computation.
#pragma once

#include <string>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

struct Heatmap {
  bool ansi = false;  ///< 24 greys of a terminal with 256 colours, instead of " ░▒▓█"
};

/// Text with one line for each row and two characters for each element, darkest for the smallest.
/// Further axes give matrices below each other. Non-finite elements are "??".
[[nodiscard]] std::string to_heatmap(const Tensor& x, Heatmap how = {});

}  // namespace stoker
