// A tensor as softmax sees it: outer × inner independent rows along one axis.
#pragma once

#include <algorithm>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/softmax/options.hpp"

namespace stoker::kernels::softmax {

/// Element i of row (o, c) lies at (o · length + i) · inner + c.
struct Rows {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;
};

/// invalid_parameter if the parameter `axis` is out of range. A scalar is one row of one element.
[[nodiscard]] inline Result<Rows> rows_of(const KernelCall& call) {
  const Shape& shape = call.shape();
  const std::size_t rank = std::max<std::size_t>(shape.rank(), 1);
  STOKER_ASSIGN(const std::size_t axis,
                rules::axis("softmax", "axis", options::from<Softmax>(call.params).axis, rank));
  Rows rows;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    (i < axis ? rows.outer : i == axis ? rows.length : rows.inner) *= shape[i];
  return rows;
}

}  // namespace stoker::kernels::softmax
