#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite.hpp"

namespace stoker::kernels::threshold {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "threshold";
  image::add_awkward(suite, "");
  for (const char* mode : {"binary", "binary_inv", "trunc", "to_zero", "to_zero_inv"})
    for (const auto& [name, value] : {std::pair<std::string, double>{"quarter", 0.25},
                                      {"whole", 0.2},
                                      {"none below", -0.5},
                                      {"least", 0.0},
                                      {"most", 1.0},
                                      {"none above", 2.0}}) {
      const Params params{{"mode", mode}, {"value", value}, {"above", 0.75}, {"below", 0.125}};
      const std::string label = std::string{mode} + ", " + name;
      image::add_cases(suite, label, {{13, 17, 3}}, params);
      image::add_cases(suite, label + ", alpha", {{13, 17, 4}}, params);
    }
  image::add_cases(suite, "levels out of range", {{13, 17, 1}}, {{"above", 3.0}, {"below", -2.0}});
  image::add_cases(suite, "photo", {{480, 641, 3}}, {}, true);
  image::add_case(suite, DType::f32, "past the cache", {{1051, 1401, 3}}, {}, true);

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const bool alpha = image::extent(call.shape()).has_alpha();
    const double white = call.dtype() == DType::u8 ? 255.0 : 1.0;
    const double value = call.params.real("value") * white;
    const double above = call.params.real("above") * white;
    const double below = call.params.real("below") * white;
    // Floats are compared with the value as one of them.
    const double cut = call.dtype() == DType::u8 ? value : static_cast<float>(value);
    const std::string& mode = call.params.text("mode");
    std::size_t i = 0;
    return image::draw(outputs[0], [&](std::int64_t, std::int64_t, std::int64_t c) {
      const double x = inputs[0][i++];
      if (alpha && c == 3) return x;
      if (mode == "binary") return x > cut ? above : below;
      if (mode == "binary_inv") return x > cut ? below : above;
      if (mode == "trunc") return x > cut ? value : x;
      if (mode == "to_zero") return x > cut ? x : 0.0;
      return x > cut ? 0.0 : x;
    });
  };
  // What is written is a level or x; f32 and f16 round the level.
  suite.bound = [](const KernelCall& call) {
    switch (call.dtype()) {
      case DType::u8: return ErrorBound{};
      case DType::f16: return ErrorBound{.relative = 1.0 / 2048};
      default: return ErrorBound{.relative = 1e-7};
    }
  };
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::threshold
