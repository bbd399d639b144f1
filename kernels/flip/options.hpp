// flip as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

enum class FlipAxis : std::uint8_t { horizontal, vertical, both };

struct Flip {
  static constexpr KernelName kind{"flip"};
  FlipAxis axis = FlipAxis::horizontal;
};
template <class V> void visit_options(Flip& o, V&& visit) {
  visit("axis", o.axis,
        one_of<FlipAxis>({{"horizontal", FlipAxis::horizontal},
                          {"vertical", FlipAxis::vertical},
                          {"both", FlipAxis::both}}),
        "horizontal swaps left and right, vertical top and bottom, both turns by 180 degrees");
}

using FlipKernels = KernelTypes<Flip>;

}  // namespace stoker::kernels
