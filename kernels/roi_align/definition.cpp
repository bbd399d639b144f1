#include "stoker/kernels/boxes/boxes.hpp"
#include "stoker/kernels/roi_align/options.hpp"

namespace stoker::kernels::roi_align {
namespace {

/// Of a bin's samples that lie in the image, with a round for each row and one to see its end: samples are at least
/// half a pixel apart, unless there are that many anyway.
std::uint64_t most_rounds(const RoiAlign& given, const Shape& x) {
  const auto along = [&](std::int64_t extent) {
    return static_cast<std::uint64_t>(given.samples > 0 ? given.samples : 2 * (extent + 3) + 3);
  };
  return along(x[2]) * (along(x[3]) + 2) + 1;
}

void finish(const KernelCall& call, GpuPass& pass) {
  const auto given = options::from<RoiAlign>(call.params);
  pass.push.u32(given.samples).u32(RoiAlign::most_samples).u32(given.half_pixel ? 1 : 0);
  pass.push.u32(given.pool == RegionPool::max ? 1 : 0);
  pass.rounds = most_rounds(given, call.shape());
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<RoiAlign>();
  kernel.summary =
      "images in boxes [x1, y1, x2, y2] of images[k], each in height by width bins, whose bilinear "
      "samples are pooled; a sample more than a pixel outside of the image is 0";
  kernel.source = "K. He, G. Gkioxari, P. Dollar, R. Girshick, Mask R-CNN (2017)";
  boxes::pool_bins(kernel, {.shader = "roi_align/roi_align.glsl",
                            .push = {{"samples"}, {"most"}, {"half_pixel"}, {"largest"}},
                            .bins = &boxes::bins_of<RoiAlign>,
                            .finish = &finish});
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::roi_align
