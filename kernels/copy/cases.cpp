#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::copy {

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "copy";
  for (const DType dtype : rules::all_dtypes()) {
    const std::string name{to_string(dtype)};
    // Lengths around the 16-byte pieces of the GPU version.
    for (const std::int64_t n : {1, 2, 5, 15, 17, 4099})
      suite.cases.push_back(
          {.label = name + "_" + std::to_string(n), .inputs = {{dtype, Shape{n}}}});
  }
  for (const auto& [label, shape] : cases::awkward_shapes())
    suite.cases.push_back({.label = label, .inputs = {{DType::f32, shape}}});
  suite.cases.push_back(
      {.label = "large", .inputs = {{DType::u8, Shape{(1 << 24) + 13}}}, .heavy = true});
  suite.reference = [](const KernelCall&, std::span<const TensorSpec>,
                       const std::vector<std::vector<double>>& inputs) { return inputs; };
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::copy
