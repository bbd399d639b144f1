// The operations of this family, and how they run along an axis.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker::kernels::scan {

/// The order is that of the spec constant `operation` in the shaders.
enum class Operation : std::uint8_t { sum, product, max, min };

struct OperationName {
  Operation operation;
  std::string_view kernel;
  std::string_view summary;
};

inline constexpr OperationName operations[] = {
    {Operation::sum, "cumulative_sum",
     "y_i = x_0 + … + x_i along an axis; integers wrap, NaN stays to the end"},
    {Operation::product, "cumulative_product",
     "y_i = x_0 · … · x_i along an axis; integers wrap, NaN stays to the end"},
    {Operation::max, "cumulative_max",
     "y_i = max(x_0, …, x_i) along an axis; NaN stays to the end"},
    {Operation::min, "cumulative_min",
     "y_i = min(x_0, …, x_i) along an axis; NaN stays to the end"},
};

}  // namespace stoker::kernels::scan
