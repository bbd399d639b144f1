#include <cmath>

#include "stoker/kernels/boxes/suite.hpp"
#include "stoker/kernels/roi_align/options.hpp"

namespace stoker::kernels::roi_align {
namespace {

using cases::Boxes;

std::vector<Boxes> usual() {
  return {{"bins", Shape{2, 3, 9, 12}, 5, {{"height", 4}, {"width", 2}, {"samples", 2}}},
          {"largest",
           Shape{2, 3, 9, 12},
           5,
           {{"height", 2}, {"width", 3}, {"samples", 3}, {"pool", "max"}}},
          {"from_the_centre",
           Shape{1, 2, 8, 8},
           7,
           {{"height", 2}, {"width", 2}, {"half_pixel", false}, {"scale", 0.5}},
           {-4, 24}},
          {"as_many_samples_as_pixels", Shape{3, 2, 16, 16}, 9, {{"height", 2}, {"width", 4}}}};
}

std::vector<Boxes> unusual() {
  return {{"most_samples", Shape{1, 1, 5, 7}, 3, {{"samples", 67}, {"pool", "max"}}},
          {"far_larger_largest",
           Shape{1, 2, 6, 5},
           9,
           {{"height", 3}, {"width", 3}, {"pool", "max"}},
           {-300, 300}}};
}

/// The two pixels at `at`, and what the second counts.
struct Pixels {
  std::int64_t first, second;
  double share;
};
Pixels pixels_at(double at, std::int64_t extent) {
  at = std::max(at, 0.0);
  const auto first = static_cast<std::int64_t>(at);
  if (first >= extent - 1) return {extent - 1, extent - 1, 0};
  return {first, first + 1, at - static_cast<double>(first)};
}

double pooled(const RoiAlign& how, const double* plane, const Shape& shape, const double* box,
              std::int64_t row, std::int64_t column) {
  const double offset = how.half_pixel ? 0.5 : 0;
  const double x1 = box[0] * how.scale - offset;
  const double y1 = box[1] * how.scale - offset;
  double width = box[2] * how.scale - offset - x1;
  double height = box[3] * how.scale - offset - y1;
  if (!how.half_pixel) {
    width = std::max(width, 1.0);
    height = std::max(height, 1.0);
  }
  // A bin that is nowhere has no samples in the image.
  if (!std::isfinite(x1 + width) || !std::isfinite(y1 + height)) return 0;
  width /= static_cast<double>(how.width);
  height /= static_cast<double>(how.height);
  const auto count = [&](double bin) {
    return how.samples > 0 ? how.samples
                           : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(bin)));
  };
  const std::int64_t down = count(height);
  const std::int64_t across = count(width);
  const auto pixel = [&](std::int64_t y, std::int64_t x) { return plane[y * shape[3] + x]; };
  double total = 0;
  double most = -INFINITY;
  for (std::int64_t i = 0; i < down; ++i)
    for (std::int64_t j = 0; j < across; ++j) {
      const double y = y1 + (static_cast<double>(row) +
                             (static_cast<double>(i) + 0.5) / static_cast<double>(down)) *
                                height;
      const double at = x1 + (static_cast<double>(column) +
                              (static_cast<double>(j) + 0.5) / static_cast<double>(across)) *
                                 width;
      if (y < -1 || at < -1 || y > static_cast<double>(shape[2]) ||
          at > static_cast<double>(shape[3])) {
        most = std::max(most, 0.0);
        continue;
      }
      const Pixels v = pixels_at(y, shape[2]);
      const Pixels h = pixels_at(at, shape[3]);
      for (const double part : {(1 - v.share) * (1 - h.share) * pixel(v.first, h.first),
                                (1 - v.share) * h.share * pixel(v.first, h.second),
                                v.share * (1 - h.share) * pixel(v.second, h.first),
                                v.share * h.share * pixel(v.second, h.second)}) {
        total += part;
        most = std::max(most, part);
      }
    }
  return how.pool == RegionPool::max ? most : total / static_cast<double>(down * across);
}

/// Places are rounded in the type of the computation, a few times, and the steepest slope is that from -2 to 2.
ErrorBound bound_of(const KernelCall& call) {
  const DType dtype = call.dtype();
  constexpr double farthest = 600;  // pixels
  constexpr double slopes = 8;
  return {cases::subnormal(dtype) + cases::compute_rounding(dtype) * farthest * slopes,
          2 * cases::rounding(dtype)};
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  auto suite = cases::suite_of_boxes<RoiAlign>(usual(), unusual(), &pooled);
  KernelCase no_numbers = cases::case_of(usual()[3], DType::f32);
  no_numbers.label += "_of_no_numbers";
  no_numbers.fills[1].specials = true;
  suite.cases.push_back(std::move(no_numbers));
  suite.bound = bound_of;
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::roi_align
