// Where the inputs of a concatenation lie in its rows.
#pragma once

#include <vector>

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::concatenate {

/// Everything from the axis on, in bytes: the output's rows consist of one run of each input.
struct Parts {
  struct Part {
    std::size_t input = 0;
    std::size_t bytes = 0;  ///< of one run; its runs are adjacent in the input
    std::size_t start = 0;  ///< in the output's row
  };
  std::size_t rows = 1;
  std::size_t row_bytes = 0;
  std::vector<Part> parts;  ///< those with elements, in order
};

/// Precondition: the call has been checked.
[[nodiscard]] Parts parts(const KernelCall& call, std::size_t axis);

/// The parameter `axis` in [0, rank). invalid_parameter otherwise.
[[nodiscard]] Result<std::size_t> joined_axis(const KernelCall& call);

}  // namespace stoker::kernels::concatenate
