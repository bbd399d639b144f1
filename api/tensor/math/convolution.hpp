// Convolutions over any number of spatial axes.
//
// Threads: any. Errors are thrown: shape_mismatch, invalid_parameter.
#pragma once

#include "stoker/api/tensor/math/windows.hpp"

namespace stoker {

/// Everything that a convolution may be told. Lists have one entry for each spatial axis; one that is
/// not given is 1 everywhere.
struct ConvOptions {
  std::optional<Axes> strides = {};  ///< entries between windows
  /// none, as many zeros as keep ceil(extent / stride) entries, or [{before, behind}]; negative: cropped
  std::variant<PadRule, std::vector<std::pair<std::int64_t, std::int64_t>>> padding =
      PadRule::valid;
  std::optional<Axes> input_dilation = {};   ///< distance of the input's entries, zeros between
  std::optional<Axes> kernel_dilation = {};  ///< distance of the taps
  std::int64_t feature_group_size = 1;       ///< parts that channels and outputs are divided into
  std::int64_t batch_group_size = 1;         ///< parts that batch and outputs are divided into
  /// Which axes are batch, channels and the spatial ones (of a kernel: outputs, channels, …); not
  /// given: they lie in that order. Channels last are {0, 3, 1, 2}: such orders cost no copies.
  std::optional<Axes> input_permutation = {};
  std::optional<Axes> kernel_permutation = {};
  std::optional<Axes> output_permutation = {};
};

/// The cross-correlation (the kernel is not turned round) of an input [batch, channels, spatial…] with
/// a kernel [outputs, channels / feature_group_size, spatial…]: [batch, outputs, spatial…]. One to six
/// spatial axes. Integers become f32; f16 and bf16 are summed in f32.
///
///     y[n, o, i…] = Σ x[n, c, i·stride + t·dilation − low…] · kernel[o, c, t…]   over c and t…
///
/// With batch groups, part j of the batch meets part j of the outputs, and the result's batch is that
/// many times shorter.
[[nodiscard]] Tensor conv(const Tensor& input, const Tensor& kernel,
                          const ConvOptions& options = {});

}  // namespace stoker
