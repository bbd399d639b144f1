// Convolutions that make images larger, over one to three axes of space.
//
// A stride of s puts s − 1 zeros between neighbours, and a convolution goes over what comes out;
// the kernel, [space…, channels, units], is not turned round, as in Axon (what Keras and PyTorch
// call so, the gradient of a convolution, has it turned). Of an extent n and
// k = (taps − 1)·dilation + 1:
//
//     same   n·s
//     valid  n·s + max(k − s, 0)
//     pads   (n − 1)·s + 1 + before + behind − k + 1: zeros around what the strides made
//
// Dumoulin and Visin, arXiv:1603.07285.
#include <algorithm>

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"

namespace stoker::nn::layers::conv_transpose {
namespace {

constexpr const char* name = "conv_transpose";
constexpr const char* size_doc = "one for each axis of space, or one for all";

/// The zeros around one axis that was spread by its stride.
std::pair<std::int64_t, std::int64_t> zeros_around(std::int64_t taps, std::int64_t stride,
                                                   bool same) {
  if (!same) return {taps - 1, stride - 1 + std::max<std::int64_t>(taps - stride, 0)};
  const std::int64_t both = taps + stride - 2;
  const std::int64_t before = stride > taps - 1 ? taps - 1 : (both + 1) / 2;
  return {before, both - before};
}

ImageAxes::Edges padding_of(const ImageAxes& axes, const ParamSet& options) {
  const ImageAxes::Padding given = axes.padding(name, options);
  if (const auto* edges = std::get_if<ImageAxes::Edges>(&given)) return *edges;
  const Axes size = axes.list(name, options, "kernel_size");
  const Axes strides = axes.list(name, options, "strides");
  const Axes dilation = axes.list(name, options, "kernel_dilation");
  ImageAxes::Edges edges;
  for (std::size_t i = 0; i < axes.space; ++i)
    edges.push_back(zeros_around((size[i] - 1) * dilation[i] + 1, strides[i],
                                 std::get<Pad>(given) == Pad::same));
  return edges;
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const ParamSet& options) {
  const ImageAxes axes = ImageAxes::of(name, inputs[0].shape, options);
  const std::int64_t units = options.integer("units");
  std::vector<std::int64_t> extents = axes.list(name, options, "kernel_size");
  extents.push_back(axes.channels(inputs[0].shape));
  extents.push_back(units);
  return kernel_and_bias(Shape::make(extents, name).value(), units, options);
}

std::vector<Tensor> apply(LayerCall& call) {
  const ParamSet& options = call.options();
  const ImageAxes axes = ImageAxes::of(name, call.x().shape(), options);
  ConvOptions how = axes.conv_options();
  how.input_dilation = axes.list(name, options, "strides");
  how.kernel_dilation = axes.list(name, options, "kernel_dilation");
  how.padding = padding_of(axes, options);
  Tensor y = stoker::conv(call.x(), call.variable("kernel"), how);
  if (call.has("bias")) y = axes.with_bias(y, call.variable("bias"));
  return {activation(options.text("activation"))(y)};
}

}  // namespace

void define(LayerTable& table) {
  std::vector<ParamSpec> options{units_option(),
                                 space_option("kernel_size", {1}, size_doc),
                                 space_option("strides", {1}, "how many times larger it makes"),
                                 padding_option(),
                                 pads_option(),
                                 space_option("kernel_dilation", {1}, size_doc),
                                 channels_option()};
  append(options, kernel_options());
  options.push_back(activation_option());
  table.add({.name = name,
             .summary = "activation(x with zeros between convolved with the kernel, + bias)",
             .options = std::move(options),
             .variables = &variables,
             .apply = &apply});
}

}  // namespace stoker::nn::layers::conv_transpose
