// Convolutions over one to three spatial axes.
//
// Kernels are [space…, channels per group, units], whatever the order of the input's axes.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

struct Conv {
  static constexpr const char* kind = "conv";
  Required<std::int64_t> units = {};
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
  std::int64_t feature_group_size = 1;
  std::string name = {};
};
template <class V> void visit_options(Conv& o, V&& visit) {
  visit_units(o, visit);
  visit_convolution(o, visit);
  visit("feature_group_size", o.feature_group_size, at_least(1),
        "number of groups that channels and units are divided into");
}

/// Convolves each channel with its own kernels.
struct DepthwiseConv {
  static constexpr const char* kind = "depthwise_conv";
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
template <class V> void visit_options(DepthwiseConv& o, V&& visit) {
  visit("multiplier", o.multiplier, at_least(1), "number of kernels for each channel");
  visit_convolution(o, visit);
}

}  // namespace layers

/// Pass `units` here, not in `options`.
[[nodiscard]] Node conv(const Node& x, std::int64_t units, layers::Conv options = {});

}  // namespace stoker::nn
