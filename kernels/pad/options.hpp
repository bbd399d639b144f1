// pad as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

struct Pad {
  static constexpr KernelName kind{"pad"};
  Extents low = {};
  Extents high = {};
  Extents interior = {};
};
template <class V> void visit_options(Pad& o, V&& visit) {
  // Sums of such numbers stay far from the ends of 64 bits.
  constexpr double most = 1LL << 40;
  visit("low", o.low, within(-most, most),
        "entries added before each axis; a negative number crops; empty: none");
  visit("high", o.high, within(-most, most),
        "entries added after each axis; a negative number crops; empty: none");
  visit("interior", o.interior, within(0, most),
        "entries added between neighbours along each axis; empty: none");
}

using PadKernels = KernelTypes<Pad>;

}  // namespace stoker::kernels
