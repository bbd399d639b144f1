#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite.hpp"

namespace stoker::kernels::grayscale {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "grayscale";
  image::add_awkward(suite, "");
  image::add_awkward(suite, "keep channels", {{"keep_channels", true}});
  for (const std::int64_t channels : {1, 3, 4})
    for (const bool keep : {false, true})
      image::add_cases(suite, "photo, " + std::to_string(channels) + (keep ? " kept" : " to 1"),
                       {{480, 641, channels}}, {{"keep_channels", keep}}, true);
  image::add_case(suite, DType::f32, "past the cache", {{2101, 2003, 1}}, {}, true);

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const image::Picture x{image::extent(call.shape()), inputs[0]};
    return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      if (x.extent.channels == 1 || c == 3) return x.at(row, column, c);
      return 0.299 * x.at(row, column, 0) + 0.587 * x.at(row, column, 1) +
             0.114 * x.at(row, column, 2);
    });
  };
  suite.bound = image::rounding_bound;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::grayscale
