// Depthwise convolutions in one pass for each axis of space.
//
// Pass i has a kernel along axis i only, [1…, taps, …1, 1, channels·multiplier], and strides,
// padding and dilations of that axis only. So all passes together, without biases between, are a
// depthwise convolution whose kernels are products of one factor for each axis, at the cost of
// their sum. (Axon gives each pass the strides of all axes; for strides of 1 both are the same.)
//
// The first pass multiplies the channels; each pass has a bias, and only the last the activation.
// Chollet, arXiv:1610.02357, has the idea of separating what a kernel does.
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
  visit("multiplier", o.multiplier, at_least(1), "units for each channel");
  visit_convolution(o, visit);
}
using SeparableConv2d = SeparableConvOf<"separable_conv2d">;
using SeparableConv3d = SeparableConvOf<"separable_conv3d">;

}  // namespace stoker::nn::layers
