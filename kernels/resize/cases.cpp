#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/sampling.hpp"
#include "stoker/kernels/image/suite.hpp"
#include "stoker/kernels/resize/options.hpp"

namespace stoker::kernels::resize {
namespace {

/// What output `i` of one axis is made of: input positions, which may lie past an edge, and weights.
std::vector<std::pair<std::int64_t, double>> taps(const KernelCall& call, std::int64_t i,
                                                  std::int64_t in, std::int64_t out) {
  const auto given = options::from<Resize>(call.params);
  const Filter filter = given.mode;
  if (filter == Filter::nearest) return {{(2 * i + 1) * in / (2 * out), 1.0}};
  const double stretch = image::filter_stretch(in, out, given.antialias);
  const double centre = image::half_pixel_place(i, in, out);
  const auto reach = static_cast<std::int64_t>(std::ceil(2 * stretch));
  std::vector<std::pair<std::int64_t, double>> result;
  double sum = 0;
  for (auto k = static_cast<std::int64_t>(std::floor(centre)) - reach;
       k <= centre + static_cast<double>(reach) + 1; ++k) {
    result.emplace_back(
        k, image::interpolation_of(filter).weight((static_cast<double>(k) - centre) / stretch));
    sum += result.back().second;
  }
  for (auto& [k, weight] : result) weight /= sum;
  return result;
}

std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const image::Picture x{image::extent(call.shape()), inputs[0]};
  const image::Extent out = image::extent(outputs[0].shape);
  std::vector<std::vector<std::pair<std::int64_t, double>>> columns;
  for (std::int64_t i = 0; i < out.width; ++i)
    columns.push_back(taps(call, i, x.extent.width, out.width));
  return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
    double sum = 0;
    for (const auto& [y, down] : taps(call, row, x.extent.height, out.height))
      for (const auto& [at, across] : columns[static_cast<std::size_t>(column)])
        if (down != 0 && across != 0) sum += down * across * x.at(y, at, c);
    return sum;
  });
}

/// u8 and f16 as elsewhere; in f32 the fraction of a position and the weights it gives round, too.
ErrorBound bound(const KernelCall& call) {
  if (call.params.text("mode") == "nearest") return {};
  ErrorBound bound = image::rounding_bound(call);
  if (call.dtype() == DType::f32) bound.absolute *= 2;
  return bound;
}

void add_sizes(KernelSuite& suite, const std::string& label, const Params& mode) {
  const auto add = [&](const std::string& name, const Shape& shape, std::int64_t width,
                       std::int64_t height, bool heavy = false) {
    Params params = mode;
    params.set("width", width);
    params.set("height", height);
    image::add_cases(suite, label + ", " + name, {shape}, params, heavy);
  };
  for (const std::int64_t channels : {1, 3, 4}) {
    const std::string suffix = ", " + std::to_string(channels) + " channels";
    add("same size" + suffix, {7, 13, channels}, 0, 0);
    add("larger" + suffix, {7, 13, channels}, 31, 17);
    add("smaller" + suffix, {31, 37, channels}, 12, 9);
    add("halved" + suffix, {64, 32, channels}, 16, 32);
    add("doubled" + suffix, {16, 8, channels}, 16, 32);
    add("wider and lower" + suffix, {37, 5, channels}, 41, 3);
    add("both halved" + suffix, {26, 118, channels}, 59, 13);
    add("to one pixel" + suffix, {13, 7, channels}, 1, 1);
    add("from one pixel" + suffix, {1, 1, channels}, 7, 5);
    add("from two pixels" + suffix, {2, 1, channels}, 9, 9);
    add("from three pixels" + suffix, {3, 3, channels}, 10, 10);
  }
  add("by width", {30, 40, 3}, 20, 0);
  add("by height", {30, 40, 3}, 0, 50);
  add("empty", {0, 5, 3}, 0, 0);
  add("grey groups, larger", {5, 301, 1}, 517, 7);
  add("grey groups, halved", {5, 600, 1}, 300, 3);
  add("grey groups, a little less", {5, 600, 1}, 577, 3);
  add("grey groups, below half", {5, 601, 1}, 300, 3);
  add("very wide", {1, 9001, 1}, 20011, 1);
  add("thumbnail", {300, 451, 3}, 64, 48);
  add("photo", {300, 451, 3}, 640, 427, true);
}

}  // namespace

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "resize";
  image::add_cases(suite, "default", {{7, 13, 3}}, {{"width", 20}, {"height", 20}});
  for (const char* mode : {"nearest", "bilinear", "bicubic"}) {
    add_sizes(suite, mode, {{"mode", mode}});
    add_sizes(suite, std::string{mode} + " antialias", {{"mode", mode}, {"antialias", true}});
  }
  suite.reference = reference;
  suite.bound = bound;
  all.push_back(std::move(suite));

  KernelSuite bicubic;
  bicubic.kernel = "bicubic_scale";
  image::add_cases(bicubic, "default", {{7, 13, 3}}, {{"width", 20}, {"height", 20}});
  image::add_cases(bicubic, "copy", {{7, 13, 4}});
  image::add_cases(bicubic, "smaller", {{31, 37, 1}}, {{"width", 12}, {"height", 9}});
  bicubic.reference = reference;
  bicubic.bound = bound;
  all.push_back(std::move(bicubic));
}

}  // namespace stoker::kernels::resize
