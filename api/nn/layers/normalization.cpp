// Layers that give each row's parts mean 0 and variance 1, and then learn both anew. They keep no
// statistics: a row means the same alone as in a batch.
//
// Ba et al., arXiv:1607.06450; Wu and He, arXiv:1803.08494; Zhang and Sennrich, arXiv:1910.07467.
#include "stoker/api/nn/functional/channel_statistics.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn::layers::normalization {
namespace {

std::vector<Tensor> layer_norm(LayerCall& call) {
  const Tensor& x = call.x();
  const double epsilon = call.options().real("epsilon");
  const std::int64_t axis = channel_axis("layer_norm", x.shape(), call.options());
  // One kernel does all of it along the last axis, in one dtype.
  if (axis + 1 == static_cast<std::int64_t>(x.rank())) {
    const Tensor& gamma = call.variable("gamma");
    const DType dtype = expr::merged(x.dtype(), gamma.dtype());
    return {stoker::layer_norm(as_type(x, dtype), gamma, call.variable("beta"), -1, epsilon)};
  }
  return {scaled_and_shifted(call, normalized(x, moments(x, {axis}), epsilon), axis)};
}

std::vector<VariableSpec> group_variables(std::span<const TensorSpec> inputs,
                                          const ParamSet& options) {
  std::vector<VariableSpec> all = scale_and_shift("group_norm", inputs[0].shape, options);
  const std::int64_t channels = all[0].shape[0];
  const std::int64_t groups = options.integer("groups");
  if (channels % groups != 0)
    throw Error{"group_norm",
                ErrorCode::shape_mismatch,
                std::to_string(channels) + " channels are not divided by " +
                    std::to_string(groups) + " groups",
                {{"channels", std::to_string(channels)}, {"groups", std::to_string(groups)}}};
  return all;
}

std::vector<Tensor> group_norm(LayerCall& call) {
  const Tensor& x = call.x();
  const std::int64_t axis = channel_axis("group_norm", x.shape(), call.options());
  const std::int64_t groups = call.options().integer("groups");
  std::vector<std::int64_t> extents(x.shape().begin(), x.shape().end());
  std::int64_t& channels = extents[static_cast<std::size_t>(axis)];
  channels /= groups;
  extents.insert(extents.begin() + axis, groups);
  const Tensor parts = stoker::reshape(x, extents);
  Axes axes;  // all but the batch and the groups
  for (std::int64_t one = 1; one < static_cast<std::int64_t>(extents.size()); ++one)
    if (one != axis) axes.push_back(one);
  const Tensor y = normalized(parts, moments(parts, axes), call.options().real("epsilon"));
  return {scaled_and_shifted(call, stoker::reshape(y, x.shape()), axis)};
}

std::vector<VariableSpec> rms_variables(std::span<const TensorSpec> inputs,
                                        const ParamSet& options) {
  const Shape& x = inputs[0].shape;
  const auto axis = static_cast<std::size_t>(channel_axis("rms_norm", x, options));
  return {{"gamma", Shape{x[axis]}, options.text("gamma_initializer")}};
}

/// In f32 at least up to where `upcast` says, and in the dtype of x again at the end.
std::vector<Tensor> rms_norm(LayerCall& call) {
  const ParamSet& options = call.options();
  const Tensor& x = call.x();
  const std::int64_t axis = channel_axis("rms_norm", x.shape(), options);
  const Tensor wide = x.dtype() == DType::f64 ? x : as_type(x, DType::f32);
  const Tensor power = mean(wide * wide, {Axes{axis}, true});
  Tensor y = wide * rsqrt(power + options.real("epsilon"));
  if (options.text("upcast") == "normalization") y = as_type(y, x.dtype());
  const Tensor gamma = along_channels(call.variable("gamma"), x, axis);
  return {as_type(y * (gamma + options.real("shift")), x.dtype())};
}

}  // namespace

void define(LayerTable& table) {
  table.add({.name = "layer_norm",
             .summary = "each row's channels by their own statistics",
             .options = normalization_options(),
             .variables =
                 [](std::span<const TensorSpec> inputs, const ParamSet& options) {
                   return scale_and_shift("layer_norm", inputs[0].shape, options);
                 },
             .apply = &layer_norm});
  std::vector<ParamSpec> of_groups{{.name = "groups",
                                    .type = ParamType::integer,
                                    .fallback = {},
                                    .doc = "which divide the channels",
                                    .min = 1}};
  append(of_groups, normalization_options());
  table.add({.name = "group_norm",
             .summary = "each row's groups of channels by their own statistics",
             .options = std::move(of_groups),
             .variables = &group_variables,
             .apply = &group_norm});
  table.add(
      {.name = "rms_norm",
       .summary = "each row's channels by their root mean square",
       .options =
           {gamma_option(),
            epsilon_option(1e-6),
            {.name = "shift", .type = ParamType::real, .fallback = 0.0, .doc = "added to gamma"},
            {.name = "upcast",
             .type = ParamType::text,
             .fallback = std::string{"normalization"},
             .doc = "what is computed in f32 at least: all but the scaling, or all",
             .choices = {"normalization", "all"}},
            channel_index_option()},
       .variables = &rms_variables,
       .apply = &rms_norm});
}

}  // namespace stoker::nn::layers::normalization
