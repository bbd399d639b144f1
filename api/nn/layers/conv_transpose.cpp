#include "stoker/api/nn/layers/conv_transpose.hpp"

#include <algorithm>

namespace stoker::nn {
namespace layers::conv_transpose {
namespace {

constexpr const char* name = ConvTranspose::kind;

/// The zeros around one axis that was spread by its stride.
std::pair<std::int64_t, std::int64_t> zeros_around(std::int64_t taps, std::int64_t stride,
                                                   bool same) {
  if (!same) return {taps - 1, stride - 1 + std::max<std::int64_t>(taps - stride, 0)};
  const std::int64_t both = taps + stride - 2;
  const std::int64_t before = stride > taps - 1 ? taps - 1 : (both + 1) / 2;
  return {before, both - before};
}

ImageAxes::Edges padding_of(const ImageAxes& axes, const ConvTranspose& options) {
  const ImageAxes::Padding given = axes.padding(name, options.padding, options.pads);
  if (const auto* edges = std::get_if<ImageAxes::Edges>(&given)) return *edges;
  const Axes size = axes.list(name, "kernel_size", options.kernel_size);
  const Axes strides = axes.list(name, "strides", options.strides);
  const Axes dilation = axes.list(name, "kernel_dilation", options.kernel_dilation);
  ImageAxes::Edges edges;
  for (std::size_t i = 0; i < axes.space; ++i)
    edges.push_back(zeros_around((size[i] - 1) * dilation[i] + 1, strides[i],
                                 std::get<PadRule>(given) == PadRule::same));
  return edges;
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs,
                                    const ConvTranspose& options) {
  const ImageAxes axes = ImageAxes::of(name, inputs[0].shape, options.channels);
  std::vector<std::int64_t> extents = axes.list(name, "kernel_size", options.kernel_size);
  extents.push_back(axes.channels(inputs[0].shape));
  extents.push_back(options.units);
  return kernel_and_bias(Shape::make(extents, name), options.units, options);
}

std::vector<Tensor> apply(LayerCall& call, const ConvTranspose& options) {
  const ImageAxes axes = ImageAxes::of(name, call.x().shape(), options.channels);
  ConvOptions how = axes.conv_options();
  how.input_dilation = axes.list(name, "strides", options.strides);
  how.kernel_dilation = axes.list(name, "kernel_dilation", options.kernel_dilation);
  how.padding = padding_of(axes, options);
  Tensor y = stoker::conv(call.x(), call.variable("kernel"), how);
  if (call.has("bias")) y = axes.with_bias(y, call.variable("bias"));
  return {activation(options.activation)(y)};
}

}  // namespace

void define(LayerTable& table) {
  table.add<ConvTranspose>({.summary = "activation(y + bias), where y is x, with zeros between its "
                                       "elements, convolved with the kernel",
                            .variables = &variables,
                            .apply = &apply});
}

}  // namespace layers::conv_transpose

Node conv_transpose(const Node& x, std::int64_t units, layers::ConvTranspose options) {
  give(options, &layers::ConvTranspose::units, units);
  return Layer{options}(x);
}

}  // namespace stoker::nn
