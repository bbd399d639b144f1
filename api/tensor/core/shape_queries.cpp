#include "stoker/api/tensor/core/shape_queries.hpp"

#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker {

std::int64_t axis_size(const Tensor& x, std::int64_t axis) {
  return x.shape()[detail::checked_axis("axis_size", axis, x.rank())];
}
Axes axes_of(const Tensor& x) { return expr::all_axes(x.rank()); }
std::size_t bit_size(const Tensor& x) { return 8 * x.bytes(); }
bool compatible(const Tensor& a, const Tensor& b) { return a.spec() == b.spec(); }
Tensor placeholder(const TensorSpec& spec) { return Tensor{expr::parameter(spec)}; }

}  // namespace stoker
