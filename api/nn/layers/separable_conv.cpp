// Depthwise convolutions in one pass for each axis of space.
//
// Pass i has a kernel along axis i only, [1…, taps, …1, 1, channels·multiplier], and strides,
// padding and dilations of that axis only. So all passes together, without biases between, are a
// depthwise convolution whose kernels are products of one factor for each axis, at the cost of
// their sum. (Axon gives each pass the strides of all axes; for strides of 1 both are the same.)
//
// The first pass multiplies the channels; each pass has a bias, and only the last the activation.
// Chollet, arXiv:1610.02357, has the idea of separating what a kernel does.
#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/layer.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/tensor/core/shape_queries.hpp"

namespace stoker::nn::layers::separable_conv {
namespace {

ImageAxes axes_of(const char* op, std::size_t space, const Shape& x, const ParamSet& options) {
  const ImageAxes axes = ImageAxes::of(op, x, options);
  if (axes.space != space)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected batch, channels and " + std::to_string(space) + " axes of space, got " +
                    x.to_string(),
                {{"input", x.to_string()}}};
  return axes;
}

std::string numbered(const char* variable, std::size_t pass) {
  return variable + ("_" + std::to_string(pass + 1));
}

std::vector<VariableSpec> variables_of(const char* op, std::size_t space, const TensorSpec& x,
                                       const ParamSet& options) {
  const ImageAxes axes = axes_of(op, space, x.shape, options);
  const std::int64_t units = axes.channels(x.shape) * options.integer("multiplier");
  const Axes size = axes.list(op, options, "kernel_size");
  std::vector<VariableSpec> all;
  for (std::size_t pass = 0; pass < space; ++pass) {
    std::vector<std::int64_t> extents(space + 1, 1);
    extents[pass] = size[pass];
    extents.push_back(units);
    all.push_back({numbered("kernel", pass), Shape::make(extents, op).value(),
                   options.text("kernel_initializer")});
    if (options.flag("use_bias"))
      all.push_back({numbered("bias", pass), Shape{units}, options.text("bias_initializer")});
  }
  return all;
}

/// `all` along one axis; elsewhere `rest`.
template <class List, class One> List only(std::size_t axis, const List& all, const One& rest) {
  List list(all.size(), rest);
  list[axis] = all[axis];
  return list;
}

std::vector<Tensor> apply_of(const char* op, std::size_t space, LayerCall& call) {
  const ParamSet& options = call.options();
  const ImageAxes axes = axes_of(op, space, call.x().shape(), options);
  const Axes strides = axes.list(op, options, "strides");
  const Axes input_dilation = axes.list(op, options, "input_dilation");
  const Axes kernel_dilation = axes.list(op, options, "kernel_dilation");
  const ImageAxes::Padding padding = axes.padding(op, options);
  const std::pair<std::int64_t, std::int64_t> none{0, 0};
  Tensor y = call.x();
  for (std::size_t pass = 0; pass < space; ++pass) {
    ConvOptions how = axes.conv_options();
    how.strides = only(pass, strides, 1);
    how.input_dilation = only(pass, input_dilation, 1);
    how.kernel_dilation = only(pass, kernel_dilation, 1);
    how.feature_group_size = axes.channels(y.shape());
    // Neither kind adds anything along axes that have one tap.
    if (const auto* edges = std::get_if<ImageAxes::Edges>(&padding))
      how.padding = only(pass, *edges, none);
    else
      how.padding = std::get<Pad>(padding);
    y = stoker::conv(y, call.variable(numbered("kernel", pass)), how);
    if (options.flag("use_bias")) y = axes.with_bias(y, call.variable(numbered("bias", pass)));
  }
  return {activation(options.text("activation"))(y)};
}

LayerDefinition definition(const char* name, std::size_t space) {
  LayerDefinition made;
  made.name = name;
  made.summary = "each channel convolved along one axis after the other";
  made.options = {{.name = "multiplier",
                   .type = ParamType::integer,
                   .fallback = std::int64_t{1},
                   .doc = "units for each channel",
                   .min = 1}};
  append(made.options, convolution_options());
  made.variables = [name, space](std::span<const TensorSpec> inputs, const ParamSet& options) {
    return variables_of(name, space, inputs[0], options);
  };
  made.apply = [name, space](LayerCall& call) { return apply_of(name, space, call); };
  return made;
}

}  // namespace

void define(LayerTable& table) {
  table.add(definition("separable_conv2d", 2));
  table.add(definition("separable_conv3d", 3));
}

}  // namespace stoker::nn::layers::separable_conv
