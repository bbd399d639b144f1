#include "stoker/api/nn/layers/convolution.hpp"

namespace stoker::nn {
namespace layers::convolution {
namespace {

/// How many groups, and units, a layer has for so many channels.
struct Groups {
  std::int64_t count;
  std::int64_t units;
};

Groups groups_of(const Conv& options, std::int64_t channels) {
  const Groups groups{options.feature_group_size, options.units};
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

Groups groups_of(const DepthwiseConv& options, std::int64_t channels) {
  return {channels, channels * options.multiplier};
}

template <class O>
std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const O& options) {
  const ImageAxes axes = ImageAxes::of(O::kind, inputs[0].shape, options.channels);
  const std::int64_t channels = axes.channels(inputs[0].shape);
  const Groups groups = groups_of(options, channels);
  const Axes size = axes.list(O::kind, "kernel_size", options.kernel_size);
  std::vector<std::int64_t> extents(size.begin(), size.end());
  extents.push_back(channels / groups.count);
  extents.push_back(groups.units);
  return kernel_and_bias(Shape::make(extents, O::kind), groups.units, options);
}

template <class O> std::vector<Tensor> apply(LayerCall& call, const O& options) {
  const Tensor& x = call.x();
  const ImageAxes axes = ImageAxes::of(O::kind, x.shape(), options.channels);
  ConvOptions how = axes.conv_options();
  how.strides = axes.list(O::kind, "strides", options.strides);
  how.padding = axes.padding(O::kind, options.padding, options.pads);
  how.input_dilation = axes.list(O::kind, "input_dilation", options.input_dilation);
  how.kernel_dilation = axes.list(O::kind, "kernel_dilation", options.kernel_dilation);
  how.feature_group_size = groups_of(options, axes.channels(x.shape())).count;
  Tensor y = stoker::conv(x, call.variable("kernel"), how);
  if (call.has("bias")) y = axes.with_bias(y, call.variable("bias"));
  return {activation(options.activation)(y)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Conv>({.summary = "activation(y + bias), where y is x convolved with the kernel",
                   .variables = &variables<Conv>,
                   .apply = &apply<Conv>});
  table.add<DepthwiseConv>({.summary = "each channel convolved with its own kernels",
                            .variables = &variables<DepthwiseConv>,
                            .apply = &apply<DepthwiseConv>});
}

}  // namespace layers::convolution

Node conv(const Node& x, std::int64_t units, layers::Conv options) {
  give(options, &layers::Conv::units, units);
  return Layer{options}(x);
}

}  // namespace stoker::nn
