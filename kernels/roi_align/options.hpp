// roi_align as a type (kernels/typed_kernel.hpp).
#pragma once

#include "stoker/kernels/typed_kernel.hpp"

namespace stoker::kernels {

enum class RegionPool : std::uint8_t { mean, max };

struct RoiAlign {
  static constexpr KernelName kind{"roi_align"};
  /// The maximum number of samples along an axis of a bin. It limits boxes that reach far outside
  /// the image.
  static constexpr std::int64_t most_samples = std::int64_t{1} << 20;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t samples = 0;
  double scale = 1;
  bool half_pixel = true;
  RegionPool pool = RegionPool::mean;
};
template <class V> void visit_options(RoiAlign& o, V&& visit) {
  constexpr double most = (1LL << 31) - 1;
  visit("height", o.height, within(1, most), "rows of bins in each box");
  visit("width", o.width, within(1, most), "columns of bins in each box");
  visit("samples", o.samples, within(0, 4096),
        "samples along each axis of a bin; 0: as many as it is pixels long, rounded up");
  visit("scale", o.scale, anything, "pixels for each unit of the boxes");
  visit("half_pixel", o.half_pixel, anything,
        "the centre of the first pixel is at 0.5; if not, it is at 0, and boxes are at least a "
        "pixel long");
  visit("pool", o.pool, one_of<RegionPool>({{"mean", RegionPool::mean}, {"max", RegionPool::max}}),
        "the mean of the samples, or the largest of the weighted pixels that they are made of, "
        "without those that are NaN");
}

using RoiAlignKernels = KernelTypes<RoiAlign>;

}  // namespace stoker::kernels
