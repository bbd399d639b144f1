#include "stoker/api/nn/layers/normalization.hpp"

#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {
namespace layers::normalization {
namespace {

std::vector<Tensor> layer_norm(LayerCall& call, const LayerNorm& options) {
  const Tensor& x = call.x();
  const double epsilon = options.epsilon;
  const std::int64_t axis = channel_axis("layer_norm", x.shape(), options.channel_index);
  // One kernel does all of it along the last axis, in one dtype.
  if (axis + 1 == static_cast<std::int64_t>(x.rank())) {
    const Tensor& gamma = call.variable("gamma");
    const DType dtype = expr::merged(x.dtype(), gamma.dtype());
    return {stoker::layer_norm(as_type(x, dtype), gamma, call.variable("beta"), -1, epsilon)};
  }
  return {scaled_and_shifted(call, normalized(x, moments(x, {axis}), epsilon), axis)};
}

std::vector<VariableSpec> group_variables(std::span<const TensorSpec> inputs,
                                          const GroupNorm& options) {
  std::vector<VariableSpec> all = scale_and_shift("group_norm", inputs[0].shape, options);
  const std::int64_t channels = all[0].shape[0];
  const std::int64_t groups = options.groups;
  if (channels % groups != 0)
    throw Error{"group_norm",
                ErrorCode::shape_mismatch,
                std::to_string(channels) + " channels are not divided by " +
                    std::to_string(groups) + " groups",
                {{"channels", std::to_string(channels)}, {"groups", std::to_string(groups)}}};
  return all;
}

std::vector<Tensor> group_norm(LayerCall& call, const GroupNorm& options) {
  const Tensor& x = call.x();
  const std::int64_t axis = channel_axis("group_norm", x.shape(), options.channel_index);
  const std::int64_t groups = options.groups;
  std::vector<std::int64_t> extents(x.shape().begin(), x.shape().end());
  std::int64_t& channels = extents[static_cast<std::size_t>(axis)];
  channels /= groups;
  extents.insert(extents.begin() + axis, groups);
  const Tensor parts = stoker::reshape(x, extents);
  Axes axes;  // all but the batch and the groups
  for (std::int64_t one = 1; one < static_cast<std::int64_t>(extents.size()); ++one)
    if (one != axis) axes.push_back(one);
  const Tensor y = normalized(parts, moments(parts, axes), options.epsilon);
  return {scaled_and_shifted(call, stoker::reshape(y, x.shape()), axis)};
}

std::vector<VariableSpec> rms_variables(std::span<const TensorSpec> inputs,
                                        const RmsNorm& options) {
  const Shape& x = inputs[0].shape;
  const auto axis = static_cast<std::size_t>(channel_axis("rms_norm", x, options.channel_index));
  return {{"gamma", Shape{x[axis]}, options.gamma_initializer}};
}

/// In f32 at least up to where `upcast` says, and in the dtype of x again at the end.
std::vector<Tensor> rms_norm(LayerCall& call, const RmsNorm& options) {
  const Tensor& x = call.x();
  const std::int64_t axis = channel_axis("rms_norm", x.shape(), options.channel_index);
  const Tensor wide = x.dtype() == DType::f64 ? x : as_type(x, DType::f32);
  const Tensor power = mean(wide * wide, {Axes{axis}, true});
  Tensor y = wide * rsqrt(power + options.epsilon);
  if (options.upcast == Upcast::normalization) y = as_type(y, x.dtype());
  const Tensor gamma = along_channels(call.variable("gamma"), x, axis);
  return {as_type(y * (gamma + options.shift), x.dtype())};
}

}  // namespace

void define(LayerTable& table) {
  table.add<LayerNorm>({.summary = "the channels of each row normalized by their mean and variance",
                        .variables =
                            [](std::span<const TensorSpec> inputs, const LayerNorm& options) {
                              return scale_and_shift("layer_norm", inputs[0].shape, options);
                            },
                        .apply = &layer_norm});
  table.add<GroupNorm>(
      {.summary = "each group of channels of each row normalized by its mean and variance",
       .variables = &group_variables,
       .apply = &group_norm});
  table.add<RmsNorm>({.summary = "the channels of each row divided by their root mean square",
                      .variables = &rms_variables,
                      .apply = &rms_norm});
}

}  // namespace layers::normalization

Node layer_norm(const Node& x, const layers::LayerNorm& options) { return Layer{options}(x); }

}  // namespace stoker::nn
