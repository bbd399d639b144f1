#include "stoker/kernels/boxes/boxes.hpp"
#include "stoker/kernels/roi_max_pool/options.hpp"

namespace stoker::kernels::roi_max_pool {
namespace {

void finish(const KernelCall& call, GpuPass& pass) {
  const Shape& x = call.shape();
  // A bin may be the whole image. Each row takes a round of its own, and one more to see the end of its pixels.
  pass.rounds = static_cast<std::uint64_t>(x[2]) * static_cast<std::uint64_t>(x[3] + 2) + 1;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<RoiMaxPool>();
  kernel.summary =
      "the largest pixel, without those that are NaN, of each of height by width bins of boxes "
      "[x1, y1, x2, y2] of images[k], whose corners are rounded to pixels that belong to the box; "
      "0 where a bin has no pixel of the image, minus infinity where all are NaN";
  kernel.source = "R. Girshick, Fast R-CNN (2015)";
  boxes::pool_bins(kernel, {.shader = "roi_max_pool/roi_max_pool.glsl",
                            .bins = &boxes::bins_of<RoiMaxPool>,
                            .finish = &finish});
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::roi_max_pool
