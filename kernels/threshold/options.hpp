// threshold as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

enum class ThresholdMode : std::uint8_t {
  binary,       ///< `above`, else `below`
  binary_inv,   ///< the other way round
  trunc,        ///< at most `value`
  to_zero,      ///< values that are not above become 0
  to_zero_inv,  ///< values above become 0
};

struct Threshold {
  static constexpr KernelName kind{"threshold"};
  double value = 0.5;
  ThresholdMode mode = ThresholdMode::binary;
  double above = 1;
  double below = 0;
};
template <class V> void visit_options(Threshold& o, V&& visit) {
  visit("value", o.value, within(-100, 100),
        "the value that colours are compared with; 1 is full white, so 128 / 255 stands for 128 in "
        "u8");
  visit("mode", o.mode,
        one_of<ThresholdMode>({{"binary", ThresholdMode::binary},
                               {"binary_inv", ThresholdMode::binary_inv},
                               {"trunc", ThresholdMode::trunc},
                               {"to_zero", ThresholdMode::to_zero},
                               {"to_zero_inv", ThresholdMode::to_zero_inv}}),
        "binary writes above for colours above the value and below for others; binary_inv does the "
        "opposite; trunc limits colours to the value; to_zero sets colours to 0 unless they are "
        "above the value; to_zero_inv sets those above it to 0");
  visit("above", o.above, within(-100, 100),
        "the level that binary writes for colours above the value");
  visit("below", o.below, within(-100, 100), "the level that binary writes for all others");
}

using ThresholdKernels = KernelTypes<Threshold>;

}  // namespace stoker::kernels
