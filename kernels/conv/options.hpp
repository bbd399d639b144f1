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
  bool kernel_blocked = false;
  bool winograd = false;
};
template <class V> void visit_options(Conv& o, V&& visit) {
  // Sums and products of such numbers stay far from the ends of 64 bits.
  constexpr double most = 1LL << 31;
  visit("strides", o.strides, within(1, most),
        "distance between windows along each spatial axis; empty: 1");
  visit("padding_low", o.padding_low, within(-most, most),
        "zeros added before each spatial axis; a negative number crops; empty: none");
  visit("padding_high", o.padding_high, within(-most, most),
        "zeros added after each spatial axis; a negative number crops; empty: none");
  visit("input_dilation", o.input_dilation, within(1, most),
        "distance between the input's entries, with zeros between them; empty: 1");
  visit("kernel_dilation", o.kernel_dilation, within(1, most),
        "distance between the kernel's taps; empty: 1");
  visit("feature_groups", o.feature_groups, within(1, most),
        "groups that channels and outputs are divided into; an output reads only the channels of "
        "its group");
  visit("batch_groups", o.batch_groups, within(1, most),
        "groups that the batch and the outputs are divided into; an output reads only the batch "
        "entries of its group");
  visit(
      "input_axes", o.input_axes, within(0, most),
      "the axes of x that hold batch, channels and space, in this order; empty: x has this order");
  visit("kernel_axes", o.kernel_axes, within(0, most),
        "the axes of k that hold outputs, channels and space, in this order; empty: k has this "
        "order");
  visit("output_axes", o.output_axes, within(0, most),
        "the axes of y that hold batch, outputs and space, in this order; empty: y has this order");
  visit("flip", o.flip, anything, "reverses the kernel along its spatial axes");
  visit(
      "kernel_blocked", o.kernel_blocked, anything,
      "k is [outputs / b, channels / b, space, b channels, b outputs], where b is 8 or 16, as the "
      "CPU's library likes to read it: 16 with AVX-512, else 8; for one group, kernel_axes in "
      "their order and no flip");
  visit(
      "winograd", o.winograd, anything,
      "windows of 3 by 3 that meet every pixel may be computed with fewer products, on the CPU of "
      "f32 with channels last: sums are rounded a little more, and infinities may become NaN");
}

using ConvKernels = KernelTypes<Conv>;

}  // namespace stoker::kernels
