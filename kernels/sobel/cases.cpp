#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite.hpp"
#include "stoker/kernels/sobel/options.hpp"

namespace stoker::kernels::sobel {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "sobel";
  image::add_awkward(suite, "");
  image::add_awkward(suite, "x", {{"output", "x"}});
  image::add_awkward(suite, "y", {{"output", "y"}});
  for (const char* border : {"reflect", "wrap", "constant"})
    for (const auto& [name, shape] : {std::pair<std::string, Shape>{"colour", {13, 17, 3}},
                                      {"alpha", {5, 300, 4}},
                                      {"one pixel", {1, 1, 3}},
                                      {"two pixels", {2, 2, 1}}})
      image::add_cases(suite, std::string{border} + ", " + name, {shape}, {{"border", border}});
  image::add_cases(suite, "scaled", {{13, 17, 3}}, {{"scale", 0.25}});
  image::add_cases(suite, "negative", {{13, 17, 3}}, {{"scale", -1.0}, {"output", "x"}});
  image::add_cases(suite, "far out of range", {{13, 17, 1}}, {{"scale", 1e4}});
  image::add_cases(suite, "photo", {{480, 641, 3}}, {}, true);
  image::add_cases(suite, "more than 65535 groups", {{262'200, 1, 1}}, {}, true);

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const auto given = options::from<Sobel>(call.params);
    const image::Picture x{image::extent(call.shape()), inputs[0], given.border};
    return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      if (x.extent.has_alpha() && c == 3) return x.at(row, column, c);
      double gx = 0;
      double gy = 0;
      for (std::int64_t i = -1; i <= 1; ++i) {
        const double weight = i == 0 ? 2.0 : 1.0;
        gx += weight * (x.at(row + i, column + 1, c) - x.at(row + i, column - 1, c));
        gy += weight * (x.at(row + 1, column + i, c) - x.at(row - 1, column + i, c));
      }
      switch (given.output) {
        case SobelOutput::x: return given.scale * gx;
        case SobelOutput::y: return given.scale * gy;
        case SobelOutput::magnitude: break;
      }
      return given.scale * std::sqrt(gx * gx + gy * gy);
    });
  };
  // Sums of eight values near 1 cancel: the rounding of each is absolute, and scaled.
  suite.bound = [](const KernelCall& call) {
    ErrorBound bound = image::rounding_bound(call);
    if (call.dtype() != DType::u8)
      bound.absolute *= std::max(1.0, std::abs(call.params.real("scale")));
    return bound;
  };
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::sobel
