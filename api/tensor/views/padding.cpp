#include "stoker/api/tensor/views/padding.hpp"

#include <algorithm>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker {
namespace {

void check_borders(const char* op, const Tensor& x, const Borders& borders) {
  if (borders.size() != x.rank())
    throw Error{op,
                ErrorCode::invalid_parameter,
                "expected a pair for each of " + std::to_string(x.rank()) + " axes, got " +
                    std::to_string(borders.size()),
                {{"expected", std::to_string(x.rank())}, {"got", std::to_string(borders.size())}}};
}

}  // namespace

Tensor pad_outer(const Tensor& x, const TensorLike& value, const Borders& borders) {
  check_borders("pad_outer", x, borders);
  std::vector<Padding> padding;
  for (const auto& [before, behind] : borders) padding.push_back({before, behind, 0});
  return pad(x, value, padding);
}

Tensor reflect(const Tensor& x, const Borders& borders) {
  check_borders("reflect", x, borders);
  Tensor result = x;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const auto [before, behind] = borders[axis];
    const std::int64_t n = x.shape()[axis];
    if (before < 0 || behind < 0 || (n == 0 && before + behind > 0))
      throw Error{"reflect",
                  ErrorCode::invalid_parameter,
                  "cannot mirror " + std::to_string(before) + " and " + std::to_string(behind) +
                      " elements of an axis of " + std::to_string(n),
                  {{"axis", std::to_string(axis)}, {"input", x.spec().to_string()}}};
    if (before + behind == 0) continue;
    // There and back again is a period of 2n - 2.
    const std::int64_t period = std::max<std::int64_t>(2 * n - 2, 1);
    const Tensor phase =
        (iota(Shape{before + n + behind}, DType::s64) + (period - before % period)) % period;
    const Tensor from = min(phase, period - phase);
    result = take(result, from, static_cast<std::int64_t>(axis));
  }
  return result;
}

}  // namespace stoker
