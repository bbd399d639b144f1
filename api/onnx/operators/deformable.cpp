// Convolution whose taps are moved by offsets that are computed. https://onnx.ai/onnx/operators/onnx__DeformConv.html
#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/core/spatial.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::deformable {
namespace {

/// x [batch, groups, channels, height·width] at the places [batch, groups, points]; 0 outside.
Tensor read_at(const Tensor& x, const Tensor& rows, const Tensor& columns, std::int64_t height,
               std::int64_t width) {
  const Shape& s = x.shape();
  const Tensor top = floor(rows);
  const Tensor left = floor(columns);
  Tensor y;
  for (const int down : {0, 1})
    for (const int right : {0, 1}) {
      const Tensor row = top + down;
      const Tensor column = left + right;
      const Tensor inside = logical_and(
          logical_and(greater_equal(row, 0), less(row, static_cast<double>(height))),
          logical_and(greater_equal(column, 0), less(column, static_cast<double>(width))));
      const Tensor weight = (1 - abs(rows - row)) * (1 - abs(columns - column));
      const Tensor place =
          as_type(clip(row, 0, static_cast<double>(height - 1)), DType::s32) * width +
          as_type(clip(column, 0, static_cast<double>(width - 1)), DType::s32);
      const Shape all{s[0], s[1], s[2], place.shape()[2]};
      const Tensor seen =
          take_along_axis(x, broadcast(new_axis(as_type(place, DType::s32), 2), all), 3);
      const Tensor part = seen * new_axis(select(inside, weight, zeros_like(weight)), 2);
      y = y.has_value() ? y + part : part;
    }
  return y;
}

Values deform_conv(Call& call) {
  if (call.rank() != 4)
    call.refuse(ErrorCode::unsupported, "images of other than two spatial axes");
  const Spatial spatial = Spatial::of(call, spatial_extents(call, call.shape(1)));
  const Shape& s = call.shape();
  const Shape& w = call.shape(1);
  const std::int64_t groups = call.node().integer("group", 1);
  const std::int64_t offset_groups = call.node().integer("offset_group", 1);
  const std::int64_t taps = w[2] * w[3];
  const std::int64_t points = spatial.output[0] * spatial.output[1];
  if (groups <= 0 || offset_groups <= 0 || s[1] % offset_groups != 0 || s[1] != w[1] * groups ||
      w[0] % groups != 0)
    call.refuse(ErrorCode::shape_mismatch, "channels are no multiple of the groups");
  const DType wide = size_of(call.x().dtype()) < 4 ? DType::f32 : call.x().dtype();
  // Where a tap lies without an offset: [taps, output rows, output columns].
  const Shape grid{w[2], w[3], spatial.output[0], spatial.output[1]};
  const auto places = [&](std::size_t axis) {
    const auto at = static_cast<std::int64_t>(axis);
    const Tensor all = iota_along(grid, at + 2) * spatial.strides[axis] - spatial.pads[axis].first +
                       iota_along(grid, at) * spatial.dilations[axis];
    return reshape(as_type(all, wide), {1, 1, taps * points});
  };
  const Tensor offsets = reshape(as_type(call.x(2), wide), {s[0], offset_groups, taps, 2, points});
  const auto moved = [&](std::size_t axis) {
    const Tensor by = slice_along_axis(offsets, static_cast<std::int64_t>(axis), 1, 3);
    return places(axis) + reshape(by, {s[0], offset_groups, taps * points});
  };
  const Tensor x =
      reshape(as_type(call.x(), wide), {s[0], offset_groups, s[1] / offset_groups, s[2] * s[3]});
  Tensor columns = read_at(x, moved(0), moved(1), s[2], s[3]);
  if (call.has(4))
    columns = columns * reshape(as_type(call.x(4), wide), {s[0], offset_groups, 1, taps * points});
  columns = reshape(columns, {s[0], groups, s[1] / groups * taps, points});
  const Tensor kernel = reshape(as_type(call.x(1), wide), {1, groups, w[0] / groups, w[1] * taps});
  Tensor y = reshape(matmul(kernel, columns), {s[0], w[0], spatial.output[0], spatial.output[1]});
  if (call.has(3)) y = y + reshape(as_type(call.x(3), wide), {1, -1, 1, 1});
  return {call.like(y)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add(
      {.name = "DeformConv",
       .since = {19, 22},
       .least_inputs = 3,
       .most_inputs = 5,
       .types = alike(float_types),
       .attributes = {"dilations", "group", "kernel_shape", "offset_group", "pads", "strides"},
       .lower = &deform_conv});
}

}  // namespace stoker::onnx::operators::deformable
