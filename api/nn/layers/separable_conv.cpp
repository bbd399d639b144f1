#include "stoker/api/nn/layers/separable_conv.hpp"

#include "stoker/api/tensor/core/shape_queries.hpp"

namespace stoker::nn::layers::separable_conv {
namespace {

/// How many axes of space a kind has.
constexpr std::size_t space_of(const SeparableConv2d&) { return 2; }
constexpr std::size_t space_of(const SeparableConv3d&) { return 3; }

template <class O> ImageAxes axes_of(const Shape& x, const O& options) {
  const ImageAxes axes = ImageAxes::of(O::kind, x, options.channels);
  const std::size_t space = space_of(options);
  if (axes.space != space)
    throw Error{O::kind,
                ErrorCode::shape_mismatch,
                "expected batch, channels and " + std::to_string(space) + " axes of space, got " +
                    x.to_string(),
                {{"input", x.to_string()}}};
  return axes;
}

std::string numbered(const char* variable, std::size_t pass) {
  return variable + ("_" + std::to_string(pass + 1));
}

template <class O>
std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const O& options) {
  const Shape& x = inputs[0].shape;
  const ImageAxes axes = axes_of(x, options);
  const std::size_t space = axes.space;
  const std::int64_t units = axes.channels(x) * options.multiplier;
  const Axes size = axes.list(O::kind, "kernel_size", options.kernel_size);
  std::vector<VariableSpec> all;
  for (std::size_t pass = 0; pass < space; ++pass) {
    std::vector<std::int64_t> extents(space + 1, 1);
    extents[pass] = size[pass];
    extents.push_back(units);
    all.push_back(
        {numbered("kernel", pass), Shape::make(extents, O::kind), options.kernel_initializer});
    if (options.use_bias)
      all.push_back({numbered("bias", pass), Shape{units}, options.bias_initializer});
  }
  return all;
}

/// `all` along one axis; elsewhere `rest`.
template <class List, class One> List only(std::size_t axis, const List& all, const One& rest) {
  List list(all.size(), rest);
  list[axis] = all[axis];
  return list;
}

template <class O> std::vector<Tensor> apply(LayerCall& call, const O& options) {
  const ImageAxes axes = axes_of(call.x().shape(), options);
  const std::size_t space = axes.space;
  const Axes strides = axes.list(O::kind, "strides", options.strides);
  const Axes input_dilation = axes.list(O::kind, "input_dilation", options.input_dilation);
  const Axes kernel_dilation = axes.list(O::kind, "kernel_dilation", options.kernel_dilation);
  const ImageAxes::Padding padding = axes.padding(O::kind, options.padding, options.pads);
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
      how.padding = std::get<PadRule>(padding);
    y = stoker::conv(y, call.variable(numbered("kernel", pass)), how);
    if (options.use_bias) y = axes.with_bias(y, call.variable(numbered("bias", pass)));
  }
  return {activation(options.activation)(y)};
}

}  // namespace

void define(LayerTable& table) {
  constexpr const char* summary = "each channel convolved along one spatial axis after the other";
  table.add<SeparableConv2d>({.summary = summary,
                              .variables = &variables<SeparableConv2d>,
                              .apply = &apply<SeparableConv2d>});
  table.add<SeparableConv3d>({.summary = summary,
                              .variables = &variables<SeparableConv3d>,
                              .apply = &apply<SeparableConv3d>});
}

}  // namespace stoker::nn::layers::separable_conv
