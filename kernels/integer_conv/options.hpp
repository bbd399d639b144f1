// integer_conv as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

/// These options mean the same as those of Conv.
struct IntegerConv {
  static constexpr KernelName kind{"integer_conv"};
  Extents strides = {};
  Extents padding_low = {};
  Extents padding_high = {};
  Extents kernel_dilation = {};
  std::int64_t feature_groups = 1;
  bool kernel_blocked = false;
};
template <class V> void visit_options(IntegerConv& o, V&& visit) {
  // Sums and products of such numbers stay far from the ends of 64 bits.
  constexpr double most = 1LL << 31;
  visit("strides", o.strides, within(1, most),
        "distance between windows along each spatial axis; empty: 1");
  visit("padding_low", o.padding_low, within(-most, most),
        "zero points added before each spatial axis; a negative number crops; empty: none");
  visit("padding_high", o.padding_high, within(-most, most),
        "zero points added after each spatial axis; a negative number crops; empty: none");
  visit("kernel_dilation", o.kernel_dilation, within(1, most),
        "distance between the kernel's taps; empty: 1");
  visit("feature_groups", o.feature_groups, within(1, most),
        "groups that channels and outputs are divided into; an output reads only the channels of "
        "its group");
  visit("kernel_blocked", o.kernel_blocked, anything,
        "k is [outputs / 16, channels / 16, space, 4, 16 outputs, 4 channels], an order that the "
        "CPU's library quickly makes its own; for one group");
}

using IntegerConvKernels = KernelTypes<IntegerConv>;

}  // namespace stoker::kernels
