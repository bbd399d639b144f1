#include "stoker/kernels/case_grid.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::reshape {

void suites(std::vector<KernelSuite>& suites) {
  KernelSuite suite;
  suite.kernel = "reshape";
  const auto add = [&](std::string label, DType dtype, Shape from, std::vector<std::int64_t> to) {
    suite.cases.push_back(
        {.label = std::move(label), .inputs = {{dtype, from}}, .params = {{"shape", to}}});
  };
  for (const DType dtype : rules::all_dtypes())
    add(std::string{to_string(dtype)}, dtype, Shape{7, 13, 31}, {31, -1});
  add("to_scalar", DType::f32, Shape{1, 1}, {});
  add("from_scalar", DType::f32, Shape{}, {1, -1, 1});
  add("empty", DType::f32, Shape{0, 3}, {3, 0, 5});
  add("empty_inferred", DType::f32, Shape{0, 3}, {-1, 5});
  add("to_rank_8", DType::f32, Shape{72}, {2, 1, 3, 2, 1, 2, 3, -1});
  add("flat", DType::f32, Shape{64, 257}, {-1});
  suite.reference = [](const KernelCall&, std::span<const TensorSpec>,
                       const std::vector<std::vector<double>>& inputs) { return inputs; };
  suite.bound = [](const KernelCall&) { return ErrorBound{}; };
  suites.push_back(std::move(suite));
}

}  // namespace stoker::kernels::reshape
