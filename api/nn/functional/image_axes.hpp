// Where batch, space and channels lie in what image layers take: [batch, space…, channels], or with
// channels="first" [batch, channels, space…]. One to three axes of space.
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

/// Where channels lie.
enum class Channels : std::uint8_t { last, first };

/// The option "padding": none, or zeros so that the extents stay.
inline constexpr PadRule valid = PadRule::valid;
inline constexpr PadRule same = PadRule::same;

struct ImageAxes {
  std::size_t space = 2;  ///< how many axes of space
  bool channels_last = true;

  /// Of an input of that shape. `op` is in what is thrown.
  [[nodiscard]] static ImageAxes of(std::string_view op, const Shape& x, Channels channels);

  [[nodiscard]] std::int64_t channel_axis() const noexcept {
    return channels_last ? static_cast<std::int64_t>(space) + 1 : 1;
  }
  /// How many channels a tensor of that shape has.
  [[nodiscard]] std::int64_t channels(const Shape& x) const {
    return x[static_cast<std::size_t>(channel_axis())];
  }
  /// The axes of space, in order.
  [[nodiscard]] Axes space_axes() const;
  /// For conv(): batch, channels, space… of the input, and of the output.
  [[nodiscard]] Axes permutation() const;
  /// conv() of such inputs with a kernel [space…, channels in one group, units]; the rest is unset.
  [[nodiscard]] ConvOptions conv_options() const;
  /// y + bias, one number for each channel.
  [[nodiscard]] Tensor with_bias(const Tensor& y, const Tensor& bias) const;
  /// A list for space as one for all axes, with `other` for batch and channels.
  [[nodiscard]] Axes spread(const Axes& of_space, std::int64_t other) const;

  /// The option `name`, which has one integer for each axis of space, or one for all. Throws unless
  /// each is at least 1.
  [[nodiscard]] Axes list(std::string_view op, std::string_view name, const Extents& extents) const;
  /// What lies before and behind each axis of space.
  using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  /// Of the option `name`, which has two integers for each axis of space.
  [[nodiscard]] Edges edges(std::string_view op, std::string_view name,
                            const Extents& extents) const;
  /// The option "padding"; or the edges of the option "pads", if it is not empty.
  using Padding = std::variant<PadRule, Edges>;
  [[nodiscard]] Padding padding(std::string_view op, PadRule given, const Extents& pads) const;
};

namespace layers {

inline constexpr const char* of_space = "one for each axis of space, or one for all";

template <class O, class V> void visit_channels(O& o, V&& visit) {
  visit("channels", o.channels,
        one_of<Channels>({{"last", Channels::last}, {"first", Channels::first}}),
        "where channels lie");
}

/// padding and pads.
template <class O, class V> void visit_padding(O& o, V&& visit) {
  visit("padding", o.padding, one_of<PadRule>({{"valid", valid}, {"same", same}}),
        "none, or zeros so that the extents stay");
  visit("pads", o.pads, anything, "instead of padding: before and behind each axis of space");
}

/// Those of a layer that convolves: kernel_size, strides, padding, pads, input_dilation,
/// kernel_dilation and channels; its kernel's, and its activation.
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
