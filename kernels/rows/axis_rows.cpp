#include "stoker/kernels/rows/axis_rows.hpp"

#include <algorithm>

#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::rows {

Result<AxisRows> along(std::string_view op, const KernelCall& call, std::int64_t axis) {
  const Shape& shape = call.shape();
  const std::size_t rank = std::max<std::size_t>(shape.rank(), 1);
  AxisRows rows;
  STOKER_ASSIGN(rows.axis, rules::axis(op, "axis", axis, rank));
  for (std::size_t i = 0; i < shape.rank(); ++i)
    (i < rows.axis ? rows.outer : i == rows.axis ? rows.length : rows.inner) *= shape[i];
  return rows;
}

}  // namespace stoker::kernels::rows
