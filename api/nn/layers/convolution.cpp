// Convolutions over one to three axes of space.
//
// Kernels are [space…, channels in one group, units], whatever the order of the input's axes.
#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"

namespace stoker::nn::layers::convolution {
namespace {

/// How many groups, and units, a layer has for so many channels.
struct Groups {
  std::int64_t count;
  std::int64_t units;
};
using FindGroups = Groups (*)(const ParamSet& options, std::int64_t channels);

Groups of_conv(const ParamSet& options, std::int64_t channels) {
  const Groups groups{options.integer("feature_group_size"), options.integer("units")};
  if (channels % groups.count != 0 || groups.units % groups.count != 0)
    throw Error{"conv",
                ErrorCode::shape_mismatch,
                std::to_string(groups.count) + " groups divide neither all of " +
                    std::to_string(channels) + " channels nor all of " +
                    std::to_string(groups.units) + " units",
                {{"groups", std::to_string(groups.count)},
                 {"channels", std::to_string(channels)},
                 {"units", std::to_string(groups.units)}}};
  return groups;
}

Groups of_depthwise(const ParamSet& options, std::int64_t channels) {
  return {channels, channels * options.integer("multiplier")};
}

std::vector<VariableSpec> variables_of(const char* op, FindGroups find,
                                       std::span<const TensorSpec> inputs,
                                       const ParamSet& options) {
  const ImageAxes axes = ImageAxes::of(op, inputs[0].shape, options);
  const std::int64_t channels = axes.channels(inputs[0].shape);
  const Groups groups = find(options, channels);
  const Axes size = axes.list(op, options, "kernel_size");
  std::vector<std::int64_t> extents(size.begin(), size.end());
  extents.push_back(channels / groups.count);
  extents.push_back(groups.units);
  return kernel_and_bias(Shape::make(extents, op).value(), groups.units, options);
}

std::vector<Tensor> apply_of(const char* op, FindGroups find, LayerCall& call) {
  const ParamSet& options = call.options();
  const Tensor& x = call.x();
  const ImageAxes axes = ImageAxes::of(op, x.shape(), options);
  ConvOptions how = axes.conv_options();
  how.strides = axes.list(op, options, "strides");
  how.padding = axes.padding(op, options);
  how.input_dilation = axes.list(op, options, "input_dilation");
  how.kernel_dilation = axes.list(op, options, "kernel_dilation");
  how.feature_group_size = find(options, axes.channels(x.shape())).count;
  Tensor y = stoker::conv(x, call.variable("kernel"), how);
  if (call.has("bias")) y = axes.with_bias(y, call.variable("bias"));
  return {activation(options.text("activation"))(y)};
}

LayerDefinition definition(const char* name, const char* summary, ParamSpec first,
                           FindGroups find) {
  LayerDefinition made;
  made.name = name;
  made.summary = summary;
  made.options = {std::move(first)};
  append(made.options, convolution_options());
  made.variables = [name, find](std::span<const TensorSpec> inputs, const ParamSet& options) {
    return variables_of(name, find, inputs, options);
  };
  made.apply = [name, find](LayerCall& call) { return apply_of(name, find, call); };
  return made;
}

}  // namespace

void define(LayerTable& table) {
  LayerDefinition conv = definition("conv", "activation(x convolved with the kernel, + bias)",
                                    units_option(), &of_conv);
  conv.options.push_back({.name = "feature_group_size",
                          .type = ParamType::integer,
                          .fallback = std::int64_t{1},
                          .doc = "groups that channels and units are divided into",
                          .min = 1});
  table.add(std::move(conv));
  table.add(definition("depthwise_conv", "each channel convolved with kernels of its own",
                       {.name = "multiplier",
                        .type = ParamType::integer,
                        .fallback = std::int64_t{1},
                        .doc = "how many for each channel",
                        .min = 1},
                       &of_depthwise));
}

}  // namespace stoker::nn::layers::convolution
