// An LSTM over image sequences: maps [batch, time, spatial…, channels] to {[batch, time, spatial…,
// units], c, h}.
//
// One to three spatial axes. The input's convolution runs once over the images of all steps.
// Strides and padding apply to it only; the state's convolution keeps its output's extents.
//
// Values; any thread. Errors are thrown as node.hpp says.
#pragma once

#include "stoker/api/nn/functional/image_axes.hpp"
#include "stoker/api/nn/functional/recurrent_inputs.hpp"
#include "stoker/api/nn/graph/node.hpp"

namespace stoker::nn::layers {

struct ConvLstm {
  static constexpr const char* kind = "conv_lstm";
  Required<std::int64_t> units = {};
  ActivationName activation = tanh;
  ActivationName gate = sigmoid;
  Unroll unroll = Unroll::dynamic;
  bool reverse = false;
  bool padding_mask = false;
  bool use_bias = true;
  InitializerName kernel_initializer = initializers::glorot_uniform;
  InitializerName bias_initializer = initializers::zeros;
  InitializerName recurrent_initializer = initializers::glorot_uniform;
  Extents kernel_size = 1;
  Extents strides = 1;
  PadRule padding = same;
  Channels channels = Channels::last;
  std::string name = {};
};
template <class V> void visit_options(ConvLstm& o, V&& visit) {
  visit_recurrent(o, visit);
  visit("kernel_size", o.kernel_size, at_least(1), "taps along each spatial axis");
  visit("strides", o.strides, at_least(1), "strides of the convolution of the input");
  visit("padding", o.padding, one_of<PadRule>({{"same", same}, {"valid", valid}}),
        "padding of the convolution of the input");
  visit("channels", o.channels,
        one_of<Channels>({{"last", Channels::last}, {"first", Channels::first}}),
        "the axis of channels: the last, or the first after time");
}

}  // namespace stoker::nn::layers
