// The Gaussian blur in doubles, for the conformance suites of gaussian_blur and sharpen.
#pragma once

#include <vector>

#include "stoker/kernels/image/gaussian.hpp"
#include "stoker/kernels/image/suite.hpp"

namespace stoker::image {

/// The blurred image, unrounded: across into a second picture, then down.
[[nodiscard]] inline std::vector<double> blurred(const Shape& shape, const Blur& blur,
                                                 const std::vector<double>& input) {
  const Extent size = extent(shape);
  const Gaussian gaussian = Gaussian::of(blur);
  const std::vector<double> weights = gaussian.weights();

  const auto pass = [&](const std::vector<double>& from, std::int64_t dy, std::int64_t dx) {
    const Picture picture{size, from, blur.border};
    std::vector<double> to;
    to.reserve(from.size());
    for (std::int64_t y = 0; y < size.height; ++y)
      for (std::int64_t x = 0; x < size.width; ++x)
        for (std::int64_t c = 0; c < size.channels; ++c) {
          double sum = weights[0] * picture.at(y, x, c);
          for (std::int64_t k = 1; k <= gaussian.radius; ++k)
            sum += weights[static_cast<std::size_t>(k)] *
                   (picture.at(y - k * dy, x - k * dx, c) + picture.at(y + k * dy, x + k * dx, c));
          to.push_back(sum);
        }
    return to;
  };
  return pass(pass(input, 0, 1), 1, 0);
}

/// Images and parameters that every kernel with a Gaussian must get right.
inline void add_blur_cases(KernelSuite& suite) {
  add_awkward(suite, "");
  add_awkward(suite, "radius 3", {{"radius", 3}});
  for (const char* border : {"reflect", "wrap", "constant"}) {
    const std::string name{border};
    add_cases(suite, name, {{13, 17, 3}}, {{"radius", 2}, {"border", border}});
    add_cases(suite, name + ", smaller than the radius", {{3, 2, 4}},
              {{"radius", 7}, {"border", border}});
    add_cases(suite, name + ", one pixel", {{1, 1, 1}}, {{"radius", 2}, {"border", border}});
  }
  add_cases(suite, "smaller than the radius", {{4, 5, 3}}, {{"radius", 9}});
  add_cases(suite, "radius 0", {{7, 13, 3}}, {{"radius", 0}});
  add_cases(suite, "small sigma", {{7, 13, 3}}, {{"radius", 2}, {"sigma", 1e-3}});
  add_cases(suite, "large sigma", {{31, 37, 3}}, {{"radius", 5}, {"sigma", 100.0}});
  add_cases(suite, "widest fixed point", {{70, 80, 1}}, {{"radius", 32}});
  add_cases(suite, "first beyond fixed point", {{70, 80, 1}}, {{"radius", 33}});
  add_cases(suite, "widest tile", {{20, 300, 4}}, {{"radius", 24}});
  add_cases(suite, "beyond a tile", {{20, 300, 4}}, {{"radius", 25}});
  add_cases(suite, "beyond a tile, constant", {{40, 30, 3}},
            {{"radius", 50}, {"border", "constant"}});
  add_cases(suite, "largest radius", {{9, 11, 1}},
            {{"radius", max_blur_radius}, {"border", "reflect"}});
  add_cases(suite, "photo", {{480, 641, 3}}, {{"radius", 4}}, true);
  add_cases(suite, "more than 65535 groups", {{524'300, 1, 1}}, {}, true);
}

}  // namespace stoker::image
