// Convolutions over any number of spatial axes.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/math/windows.hpp"

namespace stoker {

/// Options of a convolution. Lists have one entry for each spatial axis; the default is 1
/// everywhere.
struct ConvOptions {
  std::optional<Axes> strides = {};  ///< entries between windows
  /// none, zeros that keep ceil(extent / stride) entries, or [{before, after}]; negative values
  /// crop
  std::variant<PadRule, std::vector<std::pair<std::int64_t, std::int64_t>>> padding =
      PadRule::valid;
  std::optional<Axes> input_dilation = {};   ///< distance between input entries, zero-filled
  std::optional<Axes> kernel_dilation = {};  ///< distance between the taps
  std::int64_t feature_group_size = 1;       ///< groups of channels and outputs
  std::int64_t batch_group_size = 1;         ///< groups of batch and outputs
  /// The axes of batch, channels and space (for a kernel: outputs, channels, space), by default in
  /// that order. Channels-last is {0, 3, 1, 2}; such orders cost no copies.
  std::optional<Axes> input_permutation = {};
  std::optional<Axes> kernel_permutation = {};
  std::optional<Axes> output_permutation = {};
};

/// The cross-correlation (the kernel is not flipped) of an input [batch, channels, spatial…] with a
/// kernel [outputs, channels / feature_group_size, spatial…]: [batch, outputs, spatial…]. One to
/// six spatial axes. Integers become f32; f16 and bf16 are summed in f32.
///
///     y[n, o, i…] = Σ x[n, c, i·stride + t·dilation − low…] · kernel[o, c, t…]   over c and t…
///
/// With batch groups, group j of the batch is convolved with group j of the outputs; the result's
/// batch size is divided by the number of groups.
[[nodiscard]] Tensor conv(const Tensor& input, const Tensor& kernel,
                          const ConvOptions& options = {});

}  // namespace stoker
