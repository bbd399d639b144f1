#include "stoker/api/nn/functional/channel_statistics.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn::layers {
namespace {

ParamSpec initializer_option(const char* name, const char* fallback) {
  return {.name = name,
          .type = ParamType::text,
          .fallback = std::string{fallback},
          .doc = "see initializer.hpp"};
}

Tensor widened(const Tensor& x) { return x.dtype() == DType::f64 ? x : as_type(x, DType::f32); }

}  // namespace

std::int64_t channel_axis(const char* op, const Shape& x, const ParamSet& options) {
  if (x.rank() < 2)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected [batch, …, channels], got " + x.to_string(),
                {{"input", x.to_string()}}};
  const std::int64_t given = options.integer("channel_index");
  const auto rank = static_cast<std::int64_t>(x.rank());
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis < 1 || axis >= rank)
    throw Error{op,
                ErrorCode::invalid_parameter,
                "channel_index: expected an axis of the row, 1 to " + std::to_string(rank - 1) +
                    ", got " + std::to_string(given),
                {{"parameter", "channel_index"}, {"input", x.to_string()}}};
  return axis;
}

std::vector<VariableSpec> scale_and_shift(const char* op, const Shape& x, const ParamSet& options) {
  const Shape shape{x[static_cast<std::size_t>(channel_axis(op, x, options))]};
  return {{"gamma", shape, options.text("gamma_initializer")},
          {"beta", shape, options.text("beta_initializer")}};
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

ParamSpec gamma_option() { return initializer_option("gamma_initializer", "ones"); }

ParamSpec epsilon_option(double fallback) {
  return {.name = "epsilon",
          .type = ParamType::real,
          .fallback = fallback,
          .doc = "added to the variance",
          .min = 0};
}

ParamSpec channel_index_option() {
  return {.name = "channel_index",
          .type = ParamType::integer,
          .fallback = std::int64_t{-1},
          .doc = "the axis of channels"};
}

std::vector<ParamSpec> normalization_options() {
  return {gamma_option(), initializer_option("beta_initializer", "zeros"), epsilon_option(1e-5),
          channel_index_option()};
}

}  // namespace stoker::nn::layers
