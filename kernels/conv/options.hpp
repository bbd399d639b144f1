// conv as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Conv {
  static constexpr KernelName kind{"conv"};
  Extents strides = {};
  Extents padding_low = {};
  Extents padding_high = {};
  Extents input_dilation = {};
  Extents kernel_dilation = {};
  std::int64_t feature_groups = 1;
  std::int64_t batch_groups = 1;
  Extents input_axes = {};
  Extents kernel_axes = {};
  Extents output_axes = {};
  bool flip = false;
};
template <class V> void visit_options(Conv& o, V&& visit) {
  // Sums and products of such numbers stay far from the ends of 64 bits.
  constexpr double most = 1LL << 31;
  visit("strides", o.strides, within(1, most),
        "entries between windows, for each spatial axis; empty: 1");
  visit("padding_low", o.padding_low, within(-most, most),
        "zeros before each spatial axis; negative: cropped; empty: none");
  visit("padding_high", o.padding_high, within(-most, most),
        "zeros behind each spatial axis; negative: cropped; empty: none");
  visit("input_dilation", o.input_dilation, within(1, most),
        "distance of the input's entries, zeros between; empty: 1");
  visit("kernel_dilation", o.kernel_dilation, within(1, most), "distance of the taps; empty: 1");
  visit("feature_groups", o.feature_groups, within(1, most),
        "parts of channels and outputs that belong together");
  visit("batch_groups", o.batch_groups, within(1, most),
        "parts of batch and outputs that belong together");
  visit("input_axes", o.input_axes, within(0, most),
        "axes of x that are batch, channels, spatial axes; empty: in order");
  visit("kernel_axes", o.kernel_axes, within(0, most),
        "axes of k that are outputs, channels, spatial axes; empty: in order");
  visit("output_axes", o.output_axes, within(0, most),
        "axes of y that are batch, outputs, spatial axes; empty: in order");
  visit("flip", o.flip, anything, "read the kernel backwards along its spatial axes");
}

using ConvKernels = KernelTypes<Conv>;

}  // namespace stoker::kernels
