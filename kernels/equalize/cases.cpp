#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite.hpp"

namespace stoker::kernels::equalize {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "equalize";
  for (const auto& [name, shape] : image::awkward_images())
    image::add_case(suite, DType::u8, name, {shape});
  for (const std::int64_t channels : {1, 3, 4}) {
    const auto add = [&](const char* label, const Fill& fill) {
      image::add_case(suite, DType::u8, label + std::to_string(channels), {{61, 67, channels}});
      suite.cases.back().fills = {fill};
    };
    add("one value, channels ", {.low = 77, .high = 77});
    add("two values, channels ", {.low = 100, .high = 101});
    add("dark, channels ", {.low = 0, .high = 30});
    add("bright, channels ", {.low = 200, .high = 255});
  }
  image::add_case(suite, DType::u8, "photo", {{480, 641, 3}}, {}, true);

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const image::Picture x{image::extent(call.shape()), inputs[0]};
    const auto channels = static_cast<std::size_t>(x.extent.channels);
    std::vector<std::vector<double>> sorted(channels);
    for (std::size_t i = 0; i < inputs[0].size(); ++i) sorted[i % channels].push_back(inputs[0][i]);
    for (auto& values : sorted) std::ranges::sort(values);
    return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      const double own = x.at(row, column, c);
      const std::vector<double>& values = sorted[static_cast<std::size_t>(c)];
      if (c == 3 || values.front() == values.back()) return own;
      const auto at_most = [&](double value) {
        return static_cast<double>(std::ranges::upper_bound(values, value) - values.begin());
      };
      const double least = at_most(values.front());
      return 255.0 * (at_most(own) - least) / (static_cast<double>(values.size()) - least);
    });
  };
  suite.bound = image::rounding_bound;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::equalize
