// Transposed convolutions, which enlarge images, over one to three spatial axes.
//
// A stride of s inserts s − 1 zeros between neighbours; the result is convolved with the kernel
// [space…, channels, units]. The kernel is not flipped, as in Axon; Keras and PyTorch, which take
// the gradient of a convolution, flip it. With k = (taps − 1)·dilation + 1, an extent n becomes:
//
//     same   n·s
//     valid  n·s + max(k − s, 0)
//     pads   (n − 1)·s + 1 + before + behind − k + 1: zeros around the strided input
//
// Dumoulin and Visin, arXiv:1603.07285.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn {

namespace layers {

struct ConvTranspose {
  static constexpr const char* kind = "conv_transpose";
  Required<std::int64_t> units = {};
  Extents kernel_size = 1;
  Extents strides = 1;
  PadRule padding = valid;
  Extents pads = {};
  Extents kernel_dilation = 1;
  Channels channels = Channels::last;
  bool use_bias = true;
  InitializerName kernel_initializer = initializers::glorot_uniform;
  InitializerName bias_initializer = initializers::zeros;
  ActivationName activation = linear;
  std::string name = {};
};
template <class V> void visit_options(ConvTranspose& o, V&& visit) {
  visit_units(o, visit);
  visit("kernel_size", o.kernel_size, anything, of_space);
  visit("strides", o.strides, anything, "factor by which each spatial axis grows");
  visit_padding(o, visit);
  visit("kernel_dilation", o.kernel_dilation, anything, of_space);
  visit_channels(o, visit);
  visit_kernel(o, visit);
  visit_activation(o, visit);
}

}  // namespace layers

/// Pass `units` here, not in `options`.
[[nodiscard]] Node conv_transpose(const Node& x, std::int64_t units,
                                  layers::ConvTranspose options = {});

}  // namespace stoker::nn
