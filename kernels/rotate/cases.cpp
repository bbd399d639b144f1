#include <numbers>

#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite.hpp"

namespace stoker::kernels::rotate {
namespace {

/// A function of an angle in degrees, exact for multiples of 90, as a multiple of 2^-30.
double component(double (*function)(double), double angle) {
  const double value = function(angle * std::numbers::pi / 180.0);
  return std::round(value * 1073741824.0) / 1073741824.0;
}

std::vector<std::vector<double>> reference(const KernelCall& call,
                                           std::span<const TensorSpec> outputs,
                                           const std::vector<std::vector<double>>& inputs) {
  const image::Picture x{image::extent(call.shape()), inputs[0]};
  const image::Extent out = image::extent(outputs[0].shape);
  const double cosine = component(std::cos, call.params.real("angle"));
  const double sine = component(std::sin, call.params.real("angle"));
  const double white = call.dtype() == DType::u8 ? 255.0 : 1.0;
  const double background = std::clamp(call.params.real("background"), 0.0, 1.0) * white;
  const auto at = [&](std::int64_t row, std::int64_t column, std::int64_t c) {
    if (row < 0 || column < 0 || row >= x.extent.height || column >= x.extent.width)
      return c == 3 ? 0.0 : background;
    return x.at(row, column, c);
  };
  const auto middle = [](std::int64_t extent) { return static_cast<double>(extent - 1) / 2; };
  return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
    const double u = static_cast<double>(column) - middle(out.width);
    const double v = static_cast<double>(row) - middle(out.height);
    const double from_x = cosine * u - sine * v + middle(x.extent.width);
    const double from_y = sine * u + cosine * v + middle(x.extent.height);
    if (call.params.text("mode") == "nearest")
      return at(static_cast<std::int64_t>(std::floor(from_y + 0.5)),
                static_cast<std::int64_t>(std::floor(from_x + 0.5)), c);
    const auto top = static_cast<std::int64_t>(std::floor(from_y));
    const auto left = static_cast<std::int64_t>(std::floor(from_x));
    const double across = from_x - std::floor(from_x);
    const double down = from_y - std::floor(from_y);
    return (at(top, left, c) * (1 - across) + at(top, left + 1, c) * across) * (1 - down) +
           (at(top + 1, left, c) * (1 - across) + at(top + 1, left + 1, c) * across) * down;
  });
}

ErrorBound bound(const KernelCall& call) {
  if (call.params.text("mode") == "bilinear") return image::rounding_bound(call);
  // Only the background is not an input's value.
  return call.dtype() == DType::u8 ? ErrorBound{} : ErrorBound{.relative = 1.0 / 2048};
}

}  // namespace

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "rotate";
  for (const char* mode : {"nearest", "bilinear"})
    for (const bool expand : {false, true}) {
      const std::string kind = std::string{mode} + (expand ? ", expand" : "");
      const auto params = [&](double angle) {
        return Params{{"angle", angle}, {"mode", mode}, {"expand", expand}, {"background", 0.25}};
      };
      image::add_awkward(suite, kind + ", 30 degrees", params(30));
      for (const double angle :
           {0.0, 90.0, 180.0, 270.0, -90.0, 360.0, 45.0, -17.5, 100.0, 0.1, 1234.5})
        for (const std::int64_t channels : {1, 3, 4}) {
          const std::string label =
              kind + ", " + std::to_string(angle) + ", " + std::to_string(channels) + " channels";
          image::add_cases(suite, label, {{13, 18, channels}}, params(angle));
          image::add_cases(suite, label + ", odd", {{21, 5, channels}}, params(angle));
        }
      image::add_cases(suite, kind + ", wide", {{3, 3001, 3}}, params(3));
      image::add_cases(suite, kind + ", two pixels", {{1, 2, 3}}, params(45));
      image::add_cases(suite, kind + ", photo", {{480, 641, 3}}, params(12.5), true);
    }
  image::add_cases(suite, "default", {{13, 17, 4}}, {{"angle", 30.0}});
  suite.reference = reference;
  suite.bound = bound;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::rotate
