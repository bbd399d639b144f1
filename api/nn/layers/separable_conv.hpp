// Depthwise convolutions, separated into one pass for each spatial axis.
//
// Pass i has a kernel along axis i only, [1…, taps, …1, 1, channels·multiplier], and strides,
// padding and dilations of that axis only. Without biases, all passes together equal a depthwise
// convolution whose kernel is the outer product of the passes' kernels, but cost only the sum of
// the passes. (Axon gives each pass the strides of all axes; for strides of 1 both are the same.)
//
// The first pass multiplies the channels by `multiplier`; each pass has a bias, only the last one
// the activation. The idea of separable kernels is Chollet's, arXiv:1610.02357.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

template <KindName Kind> struct SeparableConvOf {
  static constexpr const char* kind = Kind.text;
  std::int64_t multiplier = 1;
  Extents kernel_size = 1;
  Extents strides = 1;
  PadRule padding = valid;
  Extents pads = {};
  Extents input_dilation = 1;
  Extents kernel_dilation = 1;
  Channels channels = Channels::last;
  bool use_bias = true;
  InitializerName kernel_initializer = initializers::glorot_uniform;
  InitializerName bias_initializer = initializers::zeros;
  ActivationName activation = linear;
  std::string name = {};
};
template <KindName Kind, class V> void visit_options(SeparableConvOf<Kind>& o, V&& visit) {
  visit("multiplier", o.multiplier, at_least(1), "number of results for each channel");
  visit_convolution(o, visit);
}
using SeparableConv2d = SeparableConvOf<"separable_conv2d">;
using SeparableConv3d = SeparableConvOf<"separable_conv3d">;

}  // namespace stoker::nn::layers
