#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite_moves.hpp"

namespace stoker::kernels::histogram {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "histogram";
  image::add_awkward(suite, "");
  image::add_awkward(suite, "5 bins", {{"bins", 5}});
  for (const std::int64_t channels : {1, 3, 4}) {
    const std::string suffix = ", " + std::to_string(channels) + " channels";
    const auto add = [&](const char* label, const Params& params) {
      image::add_cases(suite, label + suffix, {{61, 67, channels}}, params);
    };
    add("one bin", {{"bins", 1}});
    add("part of the range", {{"bins", 10}, {"low", 0.25}, {"high", 0.5}});
    add("more than the range", {{"bins", 100}, {"low", -1.0}, {"high", 3.0}});
    add("outside", {{"bins", 7}, {"low", 2.0}, {"high", 3.0}});
    add("bins of several values", {{"bins", 16}});
    add("more bins than values", {{"bins", 1000}});
    add("beyond shared memory", {{"bins", 5000}});
    add("most bins", {{"bins", 65536}});
  }
  image::add_cases(suite, "many groups", {{311, 307, 3}}, {});
  image::add_cases(suite, "photo", {{480, 641, 3}}, {}, true);

  // In f32, as bins are defined: a value on the edge of two is in the same one
  // everywhere.
  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const auto channels = static_cast<std::size_t>(outputs[0].shape[0]);
    const auto bins = static_cast<std::size_t>(outputs[0].shape[1]);
    const double white = call.dtype() == DType::u8 ? 255.0 : 1.0;
    const double low = call.params.real("low") * white;
    const double high = call.params.real("high") * white;
    const auto scale = static_cast<float>(static_cast<double>(bins) / (high - low));
    std::vector<double> counts(channels * bins, 0.0);
    for (std::size_t i = 0; i < inputs[0].size(); ++i) {
      const auto x = static_cast<float>(inputs[0][i]);
      if (x < static_cast<float>(low) || x > static_cast<float>(high)) continue;
      const float at = (x - static_cast<float>(low)) * scale;
      const std::size_t bin = std::min(static_cast<std::size_t>(at), bins - 1);
      counts[i % channels * bins + bin] += 1.0;
    }
    return std::vector<std::vector<double>>{std::move(counts)};
  };
  suite.bound = image::exact;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::histogram
