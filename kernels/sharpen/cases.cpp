#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/blur_reference.hpp"
#include "stoker/kernels/sharpen/options.hpp"

namespace stoker::kernels::sharpen {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "sharpen";
  image::add_blur_cases(suite);
  image::add_cases(suite, "strength 0", {{7, 13, 3}}, {{"strength", 0.0}, {"radius", 2}});
  image::add_cases(suite, "strength 5", {{31, 37, 4}}, {{"strength", 5.0}, {"radius", 2}});
  image::add_cases(suite, "strength 100", {{31, 37, 3}}, {{"strength", 100.0}});

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const image::Extent size = image::extent(call.shape());
    const auto given = options::from<Sharpen>(call.params);
    const std::vector<double> blurred =
        image::blurred(call.shape(), image::Blur::of(given), inputs[0]);
    std::size_t i = 0;
    return image::draw(outputs[0], [&](std::int64_t, std::int64_t, std::int64_t c) {
      const double own = inputs[0][i];
      const double difference = own - blurred[i++];
      return size.has_alpha() && c == 3 ? own : own + given.strength * difference;
    });
  };
  // What the blur is off by grows with the strength. In u8 that is (radius + 1) / 128 of a level at
  // most (image/blur_rows.hpp).
  suite.bound = [](const KernelCall& call) {
    ErrorBound bound = image::rounding_bound(call);
    const auto given = options::from<Sharpen>(call.params);
    const auto radius = static_cast<double>(given.radius);
    bound.absolute += given.strength * (call.dtype() == DType::u8 ? (radius + 1) / 128 : 4e-6);
    return bound;
  };
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::sharpen
