#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite.hpp"

namespace stoker::kernels::brightness_contrast {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "brightness_contrast";
  image::add_awkward(suite, "identity");
  image::add_awkward(suite, "brighter", {{"brightness", 0.2}, {"contrast", 1.5}});
  for (const auto& [brightness, contrast] :
       {std::pair{-0.3, 1.0}, {0.0, 0.0}, {0.0, -1.0}, {100.0, 1.0}, {-100.0, 1.0}, {0.0, 100.0}})
    for (const std::int64_t channels : {1, 3, 4})
      image::add_cases(suite,
                       "brightness " + std::to_string(brightness) + ", contrast " +
                           std::to_string(contrast) + ", " + std::to_string(channels) + " channels",
                       {{13, 17, channels}}, {{"brightness", brightness}, {"contrast", contrast}});
  image::add_case(suite, DType::f32, "past the cache", {{1050, 1001, 4}}, {{"contrast", 1.2}},
                  true);
  image::add_case(suite, DType::f32, "past the cache, odd", {{1051, 1401, 3}},
                  {{"brightness", 0.1}}, true);

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const bool alpha = image::extent(call.shape()).has_alpha();
    const double contrast = call.params.real("contrast");
    const double brightness = call.params.real("brightness");
    const double white = call.dtype() == DType::u8 ? 255.0 : 1.0;
    std::size_t i = 0;
    return image::draw(outputs[0], [&](std::int64_t, std::int64_t, std::int64_t c) {
      const double x = inputs[0][i++];
      return alpha && c == 3 ? x : white * ((x / white - 0.5) * contrast + 0.5 + brightness);
    });
  };
  // x · contrast and the constant part cancel, so the error is relative to the larger of them.
  suite.bound = [](const KernelCall& call) {
    ErrorBound bound = image::rounding_bound(call);
    if (call.dtype() != DType::u8) bound.absolute *= 1 + std::abs(call.params.real("contrast"));
    return bound;
  };
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::brightness_contrast
