#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite_moves.hpp"

namespace stoker::kernels::flip {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "flip";
  for (const char* axis : {"horizontal", "vertical", "both"}) {
    for (const auto& [name, shape] : image::awkward_images())
      image::add_cases(suite, std::string{axis} + ", " + name, {shape}, {{"axis", axis}});
    for (const std::int64_t channels : {1, 3, 4})
      image::add_move_cases(suite,
                            std::string{axis} + ", " + std::to_string(channels) + " channels",
                            {5, 23, channels}, {{"axis", axis}});
    image::add_case(suite, DType::f32, std::string{axis} + ", past the cache", {{1051, 1401, 3}},
                    {{"axis", axis}}, true);
  }
  image::add_move_cases(suite, "default", {3, 4, 3}, {});

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const image::Picture x{image::extent(call.shape()), inputs[0]};
    const std::string& axis = call.params.text("axis");
    return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      return x.at(axis == "horizontal" ? row : x.extent.height - 1 - row,
                  axis == "vertical" ? column : x.extent.width - 1 - column, c);
    });
  };
  suite.bound = image::exact;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::flip
