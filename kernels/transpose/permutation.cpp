#include "stoker/kernels/transpose/permutation.hpp"

#include <algorithm>
#include <numeric>

#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/transpose/options.hpp"

namespace stoker::kernels::transpose {

Result<std::vector<std::size_t>> permutation(const KernelCall& call) {
  const auto given = options::from<Transpose>(call.params);
  const std::vector<std::int64_t>& wanted = given.axes.list();
  const std::size_t rank = call.shape().rank();
  std::vector<std::size_t> axes(rank);
  if (wanted.empty()) {
    std::iota(axes.rbegin(), axes.rend(), 0);
    return axes;
  }
  if (wanted.size() != rank)
    return Error{
        "transpose",
        ErrorCode::invalid_parameter,
        "axes: " + std::to_string(wanted.size()) + " axes for rank " + std::to_string(rank),
        {{"parameter", "axes"}, {"input", call.shape().to_string()}}};
  for (std::size_t i = 0; i < rank; ++i) {
    STOKER_ASSIGN(axes[i], rules::axis("transpose", "axes", wanted[i], rank));
    if (std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), axes[i]) !=
        axes.begin() + static_cast<std::ptrdiff_t>(i))
      return Error{"transpose",
                   ErrorCode::invalid_parameter,
                   "axes: axis " + std::to_string(wanted[i]) + " occurs twice",
                   {{"parameter", "axes"}, {"input", call.shape().to_string()}}};
  }
  return axes;
}

StridedWalk permuted_walk(const Shape& input, const std::vector<std::size_t>& axes) {
  const Strides dense = input.strides();
  Strides strides{};
  std::vector<std::int64_t> extents(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    strides[i] = dense[axes[i]];
    extents[i] = input[axes[i]];
  }
  return strided_walk(Shape::make(extents), {&strides, 1});
}

std::int64_t Matrices::batches() const noexcept {
  std::int64_t product = 1;
  for (std::size_t axis = 0; axis < batch_rank; ++axis) product *= batch_extents[axis];
  return product;
}

std::optional<Matrices> matrices(const StridedWalk& walk) {
  const std::size_t last = walk.rank - 1;
  const Strides& strides = walk.strides[0];
  if (strides[last] == 1) return std::nullopt;
  Matrices result;
  result.rows = walk.extents[last];
  result.row_stride = strides[last];
  std::int64_t out_stride = walk.extents[last];
  std::array<std::int64_t, Shape::max_rank> out_strides{};
  for (std::size_t axis = last; axis-- > 0; out_stride *= walk.extents[axis])
    out_strides[axis] = out_stride;
  for (std::size_t axis = 0; axis < last; ++axis) {
    if (strides[axis] == 1) {
      result.columns = walk.extents[axis];
      result.column_stride = out_strides[axis];
    } else {
      result.batch_extents[result.batch_rank] = walk.extents[axis];
      result.batch_in[result.batch_rank] = strides[axis];
      result.batch_out[result.batch_rank++] = out_strides[axis];
    }
  }
  return result;
}

}  // namespace stoker::kernels::transpose
