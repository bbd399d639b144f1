// The axis order of image layers' inputs: [batch, space…, channels], or [batch, channels, space…]
// with channels="first". There are one to three spatial axes.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/api/nn/graph/layer_options.hpp"
#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/math/convolution.hpp"

namespace stoker::nn {

/// The position of the channel axis.
enum class Channels : std::uint8_t { last, first };

/// The option "padding": none, or zeros that keep the extents.
inline constexpr PadRule valid = PadRule::valid;
inline constexpr PadRule same = PadRule::same;

struct ImageAxes {
  std::size_t space = 2;  ///< number of spatial axes
  bool channels_last = true;

  /// The axes of an input of that shape. `op` names the layer in errors.
  [[nodiscard]] static ImageAxes of(std::string_view op, const Shape& x, Channels channels);

  [[nodiscard]] std::int64_t channel_axis() const noexcept {
    return channels_last ? static_cast<std::int64_t>(space) + 1 : 1;
  }
  /// The number of channels of a tensor of that shape.
  [[nodiscard]] std::int64_t channels(const Shape& x) const {
    return x[static_cast<std::size_t>(channel_axis())];
  }
  /// The spatial axes, in order.
  [[nodiscard]] Axes space_axes() const;
  /// The permutation for conv(): batch, channels, space…, of the input and of the output.
  [[nodiscard]] Axes permutation() const;
  /// Options for conv() with such inputs and a kernel [space…, channels per group, units]; only the
  /// permutations are set.
  [[nodiscard]] ConvOptions conv_options() const;
  /// y + bias, one number for each channel.
  [[nodiscard]] Tensor with_bias(const Tensor& y, const Tensor& bias) const;
  /// Extends a list for the spatial axes to all axes, with `other` for batch and channels.
  [[nodiscard]] Axes spread(const Axes& of_space, std::int64_t other) const;

  /// Expands the option `name`, which has one integer for each spatial axis or one for all. Throws
  /// unless each is at least 1.
  [[nodiscard]] Axes list(std::string_view op, std::string_view name, const Extents& extents) const;
  /// Padding before and after each spatial axis.
  using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  /// Reads the option `name`, which has two integers for each spatial axis.
  [[nodiscard]] Edges edges(std::string_view op, std::string_view name,
                            const Extents& extents) const;
  /// The edges of the option "pads" if it is not empty, else the option "padding".
  using Padding = std::variant<PadRule, Edges>;
  [[nodiscard]] Padding padding(std::string_view op, PadRule given, const Extents& pads) const;
};

namespace layers {

inline constexpr const char* of_space = "one number for each spatial axis, or one for all";

template <class O, class V> void visit_channels(O& o, V&& visit) {
  visit("channels", o.channels,
        one_of<Channels>({{"last", Channels::last}, {"first", Channels::first}}),
        "the axis of channels: the last, or the first after the batch");
}

/// padding and pads.
template <class O, class V> void visit_padding(O& o, V&& visit) {
  visit("padding", o.padding, one_of<PadRule>({{"valid", valid}, {"same", same}}),
        "valid: none; same: zeros, so that strides of 1 keep the extents");
  visit("pads", o.pads, anything, "zeros before and after each spatial axis, instead of padding");
}

/// The options of a convolution layer: kernel_size, strides, padding, pads, input_dilation,
/// kernel_dilation, channels, those of the kernel (visit_kernel()), and activation.
template <class O, class V> void visit_convolution(O& o, V&& visit) {
  visit("kernel_size", o.kernel_size, anything, of_space);
  visit("strides", o.strides, anything, of_space);
  visit_padding(o, visit);
  visit("input_dilation", o.input_dilation, anything, of_space);
  visit("kernel_dilation", o.kernel_dilation, anything, of_space);
  visit_channels(o, visit);
  visit_kernel(o, visit);
  visit_activation(o, visit);
}

}  // namespace layers

}  // namespace stoker::nn
