#include <algorithm>
#include <cmath>

#include "stoker/kernels/boxes/suite.hpp"
#include "stoker/kernels/roi_max_pool/options.hpp"

namespace stoker::kernels::roi_max_pool {
namespace {

using cases::Boxes;

std::vector<Boxes> usual() {
  return {{"bins", Shape{2, 3, 9, 12}, 5, {{"height", 4}, {"width", 2}}},
          // Corners in halves of pixels, which are rounded away from 0.
          {"halves", Shape{3, 2, 8, 8}, 9, {{"height", 2}, {"width", 3}, {"scale", 0.5}}, {-6, 24}},
          {"scaled", Shape{2, 1, 7, 6}, 9, {{"height", 2}, {"scale", 0.7}}, {-3, 12}},
          {"more_bins_than_pixels", Shape{1, 2, 5, 4}, 7, {{"height", 9}, {"width", 7}}, {-1, 6}}};
}

std::vector<Boxes> unusual() {
  return {{"mirrored", Shape{1, 1, 6, 7}, 5, {{"scale", -1.0}, {"height", 2}}, {-8, 2}},
          {"beyond_whole_numbers",
           Shape{1, 2, 6, 5},
           9,
           {{"height", 3}, {"width", 3}, {"scale", 1e30}},
           {-3, 3}},
          {"rows_of_many", Shape{1, 1, 3, 203}, 5, {{"width", 2}}, {-1, 203}}};
}

/// Whether a bin of a box from one corner to another has this pixel.
bool has(double low, double high, std::int64_t bins, std::int64_t bin, std::int64_t pixel) {
  // What is further away is in no image.
  const auto rounded = [](double at) {
    constexpr double most = 1 << 30;
    return std::isnan(at) ? -most : std::round(std::clamp(at, -most, most));
  };
  const double from = rounded(low);
  const double size = std::max(rounded(high) - from + 1, 1.0);
  const auto of_bins = static_cast<double>(bins);
  const auto at = static_cast<double>(pixel) - from;
  return at >= std::floor(static_cast<double>(bin) * size / of_bins) &&
         at < std::ceil(static_cast<double>(bin + 1) * size / of_bins);
}

double largest(const RoiMaxPool& how, const double* plane, const Shape& shape, const double* box,
               std::int64_t row, std::int64_t column) {
  bool is_empty = true;
  double most = -INFINITY;
  const double scale = static_cast<float>(how.scale);  // as devices are given it
  for (std::int64_t y = 0; y < shape[2]; ++y) {
    if (!has(box[1] * scale, box[3] * scale, how.height, row, y)) continue;
    for (std::int64_t x = 0; x < shape[3]; ++x) {
      if (!has(box[0] * scale, box[2] * scale, how.width, column, x)) continue;
      is_empty = false;
      most = std::fmax(most, plane[y * shape[3] + x]);
    }
  }
  return is_empty ? 0 : most;
}

}  // namespace

void suites(std::vector<KernelSuite>& suites) {
  auto suite = cases::suite_of_boxes<RoiMaxPool>(usual(), unusual(), &largest);
  for (const std::size_t input : {std::size_t{0}, std::size_t{1}}) {
    KernelCase no_numbers = cases::case_of(usual()[0], DType::f32);
    no_numbers.label += input == 0 ? "_of_pixels_without_numbers" : "_of_no_numbers";
    no_numbers.fills[input].specials = true;
    suite.cases.push_back(std::move(no_numbers));
  }
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };  // it is one of the pixels
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::roi_max_pool
