// A tensor as layer_norm sees it: rows over the trailing axes.
#pragma once

#include <algorithm>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/layer_norm/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::layer_norm {

struct Rows {
  std::int64_t count = 1;
  std::int64_t length = 1;
  Shape normalized;  ///< the extents of the normalized axes: the shape of gamma and beta
};

/// invalid_parameter if `axis` is out of range. A scalar is one row of one element.
[[nodiscard]] inline Result<Rows> rows_of(const KernelCall& call, const LayerNorm& given) {
  const Shape& shape = call.shape();
  const std::size_t rank = std::max<std::size_t>(shape.rank(), 1);
  STOKER_ASSIGN(const std::size_t axis, rules::axis("layer_norm", "axis", given.axis, rank));
  Rows rows;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    (i < axis ? rows.count : rows.length) *= shape[i];
    if (i >= axis) rows.normalized = rows.normalized.appended(shape[i]);
  }
  return rows;
}

}  // namespace stoker::kernels::layer_norm
