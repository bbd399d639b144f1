#include "stoker/api/nn/functional/channel_statistics.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn::layers {
namespace {

Tensor widened(const Tensor& x) { return x.dtype() == DType::f64 ? x : as_type(x, DType::f32); }

}  // namespace

std::int64_t channel_axis(const char* op, const Shape& x, std::int64_t channel_index) {
  if (x.rank() < 2)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected [batch, …, channels], got " + x.to_string(),
                {{"input", x.to_string()}}};
  const auto rank = static_cast<std::int64_t>(x.rank());
  const std::int64_t axis = channel_index < 0 ? channel_index + rank : channel_index;
  if (axis < 1 || axis >= rank)
    throw Error{op,
                ErrorCode::invalid_parameter,
                "channel_index: expected an axis of the row, 1 to " + std::to_string(rank - 1) +
                    ", got " + std::to_string(channel_index),
                {{"parameter", "channel_index"}, {"input", x.to_string()}}};
  return axis;
}

Tensor along_channels(const Tensor& values, const Tensor& x, std::int64_t axis) {
  if (axis + 1 == static_cast<std::int64_t>(x.rank())) return values;
  std::vector<std::int64_t> extents(x.rank(), 1);
  extents[static_cast<std::size_t>(axis)] = values.shape()[0];
  return stoker::reshape(values, extents);
}

Tensor scaled_and_shifted(const LayerCall& call, const Tensor& y, std::int64_t axis) {
  const Tensor& gamma = call.variable("gamma");
  return as_type(
      y * along_channels(gamma, y, axis) + along_channels(call.variable("beta"), y, axis),
      expr::merged(call.x().dtype(), gamma.dtype()));
}

Moments moments(const Tensor& x, const Axes& axes) {
  const Tensor wide = widened(x);
  const Tensor m = mean(wide, {axes, true});
  const Tensor d = wide - m;
  return {m, mean(d * d, {axes, true})};
}

Tensor normalized(const Tensor& x, const Moments& of, double epsilon) {
  return (widened(x) - of.mean) * rsqrt(widened(of.variance) + epsilon);
}

}  // namespace stoker::nn::layers
