#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/gaussian_blur/options.hpp"
#include "stoker/kernels/image/blur_reference.hpp"

namespace stoker::kernels::gaussian_blur {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "gaussian_blur";
  image::add_blur_cases(suite);
  suite.reference =
      [](const KernelCall& call, std::span<const TensorSpec> outputs,
         const std::vector<std::vector<double>>& inputs) -> std::vector<std::vector<double>> {
    std::vector<double> values = image::blurred(
        call.shape(), image::Blur::of(options::from<GaussianBlur>(call.params)), inputs[0]);
    for (double& value : values) value = image::stored(outputs[0].dtype, value);
    return {std::move(values)};
  };
  suite.bound = image::rounding_bound;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::gaussian_blur
