// An array seen along one axis: [outer, length, inner], where inner elements are adjacent.
//
// A value; any thread may use it.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/kernels/call.hpp"

namespace stoker::kernels::rows {

struct AxisRows {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
  std::size_t axis = 0;  ///< in [0, rank); 0 for a scalar

  [[nodiscard]] std::int64_t rows() const noexcept { return outer * inner; }
};

/// Input 0 along `axis`, which may be negative. invalid_parameter if it is out of range; a scalar is
/// one row of one element.
[[nodiscard]] Result<AxisRows> along(std::string_view op, const KernelCall& call,
                                     std::int64_t axis);

}  // namespace stoker::kernels::rows
