#include <cmath>

#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/indexing/case_index.hpp"
#include "stoker/kernels/roi_align/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::roi_align {
namespace {

struct Named {
  std::string label;
  Shape x;
  std::int64_t boxes;
  Params params;
  Fill corners = {-2, 14};
};

std::vector<Named> usual() {
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

std::vector<Named> unusual() {
  return {{"one", Shape{1, 1, 1, 1}, 3, {}, {-1, 2}},
          {"no_boxes", Shape{2, 3, 4, 5}, 0, {{"height", 2}, {"width", 2}}},
          {"no_channels", Shape{2, 0, 4, 5}, 3, {{"height", 2}, {"width", 2}}},
          {"no_image", Shape{0, 3, 4, 5}, 0, {}},
          {"most_samples", Shape{1, 1, 5, 7}, 3, {{"samples", 67}, {"pool", "max"}}},
          {"far_larger_than_the_image",
           Shape{1, 2, 6, 5},
           9,
           {{"height", 3}, {"width", 3}},
           {-300, 300}},
          {"far_larger_largest",
           Shape{1, 2, 6, 5},
           9,
           {{"height", 3}, {"width", 3}, {"pool", "max"}},
           {-300, 300}},
          {"many", Shape{4, 17, 23, 31}, 67, {{"height", 7}, {"width", 7}}, {0, 30}}};
}

KernelCase make(const Named& one, DType dtype) {
  return {.label = std::string{to_string(dtype)} + "_" + one.label,
          .inputs = {{dtype, one.x}, {dtype, Shape{one.boxes, 4}}, {DType::s32, Shape{one.boxes}}},
          .params = one.params,
          .fills = {{}, one.corners, {-1, static_cast<double>(one.x[0])}}};
}

double read(const std::vector<double>& x, const Shape& shape, std::int64_t plane, std::int64_t row,
            std::int64_t column) {
  return x[static_cast<std::size_t>((plane * shape[2] + row) * shape[3] + column)];
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

double pooled(const RoiAlign& how, const std::vector<double>& x, const Shape& shape,
              std::int64_t plane, const double* box, std::int64_t row, std::int64_t column) {
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
      for (const double part :
           {(1 - v.share) * (1 - h.share) * read(x, shape, plane, v.first, h.first),
            (1 - v.share) * h.share * read(x, shape, plane, v.first, h.second),
            v.share * (1 - h.share) * read(x, shape, plane, v.second, h.first),
            v.share * h.share * read(x, shape, plane, v.second, h.second)}) {
        total += part;
        most = std::max(most, part);
      }
    }
  return how.pool == RegionPool::max ? most : total / static_cast<double>(down * across);
}

std::vector<double> reference(const KernelCall& call, const Shape& result,
                              const std::vector<std::vector<double>>& inputs) {
  const auto how = options::from<RoiAlign>(call.params);
  const Shape& shape = call.shape();
  std::vector<double> y(static_cast<std::size_t>(result.elements()));
  cases::Coordinates walk{result};
  for (double& one : y) {
    const std::vector<std::int64_t>& at = walk.at();
    const auto box = static_cast<std::size_t>(at[0]);
    const std::int64_t image = cases::clamped_index(inputs[2][box], shape[0]);
    one = pooled(how, inputs[0], shape, image * shape[1] + at[1], inputs[1].data() + 4 * box, at[2],
                 at[3]);
    walk.next();
  }
  return y;
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
  KernelSuite suite;
  suite.kernel = "roi_align";
  for (const DType dtype : rules::float_dtypes())
    for (const Named& one : usual()) suite.cases.push_back(make(one, dtype));
  for (const Named& one : unusual()) suite.cases.push_back(make(one, DType::f32));
  KernelCase no_numbers = make(usual()[3], DType::f32);
  no_numbers.label += "_of_no_numbers";
  no_numbers.fills[1].specials = true;
  suite.cases.push_back(std::move(no_numbers));
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    return std::vector<std::vector<double>>{reference(call, outputs[0].shape, inputs)};
  };
  suite.bound = bound_of;
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::roi_align
