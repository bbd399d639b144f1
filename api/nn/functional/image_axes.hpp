// Where batch, space and channels lie in what image layers take: [batch, space…, channels], or with
// channels="first" [batch, channels, space…]. One to three axes of space.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/math/convolution.hpp"
#include "stoker/kernels/params.hpp"

namespace stoker::nn {

struct ImageAxes {
  std::size_t space = 2;  ///< how many axes of space
  bool channels_last = true;

  /// Of an input of that shape. `op` is in what is thrown.
  [[nodiscard]] static ImageAxes of(std::string_view op, const Shape& x, const ParamSet& options);

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

  /// An option that has one integer for each axis of space, or one for all. Throws unless each is
  /// at least 1.
  [[nodiscard]] Axes list(std::string_view op, const ParamSet& options,
                          std::string_view name) const;
  /// What lies before and behind each axis of space.
  using Edges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  /// Of an option that has two integers for each axis of space.
  [[nodiscard]] Edges edges(std::string_view op, const ParamSet& options,
                            std::string_view name) const;
  /// The option "padding": "valid" or "same"; or the edges of the option "pads", if it is not
  /// empty.
  using Padding = std::variant<Pad, Edges>;
  [[nodiscard]] Padding padding(std::string_view op, const ParamSet& options) const;
};

/// The options that those read.
[[nodiscard]] ParamSpec channels_option();
[[nodiscard]] ParamSpec space_option(const char* name, std::vector<std::int64_t> fallback,
                                     const char* doc);
[[nodiscard]] ParamSpec padding_option();
[[nodiscard]] ParamSpec pads_option();
/// Those of a layer that convolves: kernel_size, strides, padding, pads, input_dilation,
/// kernel_dilation and channels; its kernel's, and its activation.
[[nodiscard]] std::vector<ParamSpec> convolution_options();

}  // namespace stoker::nn
