#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite_moves.hpp"
#include "stoker/kernels/median/options.hpp"

namespace stoker::kernels::median {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "median";
  image::add_awkward(suite, "");
  image::add_awkward(suite, "radius 2", {{"radius", 2}});
  image::add_awkward(suite, "radius 3", {{"radius", 3}});
  for (const char* border : {"replicate", "reflect", "wrap", "constant"})
    for (const std::int64_t radius : {1, 2, 3}) {
      const Params params{{"radius", radius}, {"border", border}};
      const std::string name = std::string{border} + ", radius " + std::to_string(radius);
      image::add_cases(suite, name + ", colour", {{13, 17, 3}}, params);
      image::add_cases(suite, name + ", alpha", {{5, 300, 4}}, params);
      image::add_cases(suite, name + ", one pixel", {{1, 1, 3}}, params);
      image::add_cases(suite, name + ", two pixels", {{2, 2, 1}}, params);
      image::add_cases(suite, name + ", smaller than the window", {{3, 2, 4}}, params);
    }
  image::add_cases(suite, "photo", {{480, 641, 3}}, {}, true);

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const auto given = options::from<Median>(call.params);
    const image::Picture x{image::extent(call.shape()), inputs[0], given.border};
    const std::int64_t radius = given.radius;
    std::vector<double> window;
    return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      if (x.extent.has_alpha() && c == 3) return x.at(row, column, c);
      window.clear();
      for (std::int64_t dy = -radius; dy <= radius; ++dy)
        for (std::int64_t dx = -radius; dx <= radius; ++dx)
          window.push_back(x.at(row + dy, column + dx, c));
      const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
      std::nth_element(window.begin(), middle, window.end());
      return *middle;
    });
  };
  suite.bound = image::exact;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::median
