#include "stoker/kernels/indexing/lookup.hpp"

#include <algorithm>
#include <numeric>

#include "stoker/kernels/rules.hpp"

namespace stoker::indexing {
namespace {

bool contains(const std::vector<std::size_t>& axes, std::size_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

/// Walks the axes of x from `first` on that are not among `axes`.
void set_rest(Lookup& lookup, const Shape& x, const std::vector<std::size_t>& axes,
              std::size_t first) {
  const Strides dense = x.strides();
  std::vector<std::int64_t> extents;
  Strides strides{};
  for (std::size_t axis = first; axis < x.rank(); ++axis) {
    if (contains(axes, axis)) continue;
    strides[extents.size()] = dense[axis];
    extents.push_back(x[axis]);
    lookup.row *= x[axis];
  }
  lookup.rest = strided_walk(Shape::make(extents), {&strides, 1});
}

}  // namespace

Lookup lookup_along(const Shape& x, const Shape& indices, std::size_t axis) {
  const Strides dense = x.strides();
  Lookup lookup;
  lookup.coordinates = 1;
  lookup.extents[0] = x[axis];
  lookup.strides[0] = dense[axis];
  lookup.count = indices.elements();
  for (std::size_t before = 0; before < axis; ++before) lookup.outer *= x[before];
  lookup.outer_stride = dense[axis] * x[axis];
  set_rest(lookup, x, {axis}, axis);
  return lookup;
}

Lookup lookup_vectors(const Shape& x, const Shape& indices, const std::vector<std::size_t>& axes) {
  const Strides dense = x.strides();
  Lookup lookup;
  lookup.coordinates = axes.size();
  for (std::size_t c = 0; c < axes.size(); ++c) {
    lookup.extents[c] = x[axes[c]];
    lookup.strides[c] = dense[axes[c]];
  }
  for (std::size_t axis = 0; axis + 1 < indices.rank(); ++axis) lookup.count *= indices[axis];
  set_rest(lookup, x, axes, 0);
  return lookup;
}

Result<std::vector<std::size_t>> vector_axes(std::string_view op, const KernelCall& call,
                                             std::span<const std::int64_t> wanted) {
  const Shape& x = call.shape(0);
  const Shape& indices = call.shape(1);
  const std::vector<Detail> details{{"input", x.to_string()}, {"indices", indices.to_string()}};
  if (indices.rank() == 0)
    return Error{std::string{op}, ErrorCode::shape_mismatch,
                 "the indices need a last axis that holds coordinates", details};
  const std::int64_t entries = indices[indices.rank() - 1];
  if (wanted.empty()) {
    if (entries > static_cast<std::int64_t>(x.rank()))
      return Error{std::string{op}, ErrorCode::shape_mismatch,
                   "index vectors of " + std::to_string(entries) + " entries for rank " +
                       std::to_string(x.rank()),
                   details};
    std::vector<std::size_t> axes(static_cast<std::size_t>(entries));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  if (entries != static_cast<std::int64_t>(wanted.size()))
    return Error{std::string{op}, ErrorCode::shape_mismatch,
                 "index vectors of " + std::to_string(entries) + " entries for " +
                     std::to_string(wanted.size()) + " axes",
                 details};
  std::vector<std::size_t> axes;
  for (const std::int64_t one : wanted) {
    STOKER_ASSIGN(const std::size_t axis, rules::axis(op, "axes", one, x.rank()));
    if (contains(axes, axis))
      return Error{std::string{op},
                   ErrorCode::invalid_parameter,
                   "axes: axis " + std::to_string(one) + " occurs twice",
                   {{"parameter", "axes"}, {"input", x.to_string()}}};
    axes.push_back(axis);
  }
  return axes;
}

Result<Shape> rows_shape(std::string_view op, const Shape& x, const Shape& indices,
                         const std::vector<std::size_t>& axes) {
  std::vector<std::int64_t> extents(indices.begin(), indices.end() - 1);
  for (std::size_t axis = 0; axis < x.rank(); ++axis)
    if (!contains(axes, axis)) extents.push_back(x[axis]);
  return Shape::try_make(extents, op);
}

Result<void> check_not_empty(std::string_view op, const Shape& x,
                             const std::vector<std::size_t>& axes) {
  for (const std::size_t axis : axes)
    if (x[axis] == 0)
      return Error{std::string{op},
                   ErrorCode::shape_mismatch,
                   "axis " + std::to_string(axis) + " has no elements to choose from",
                   {{"axis", std::to_string(axis)}, {"input", x.to_string()}}};
  return {};
}

}  // namespace stoker::indexing
