#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite_moves.hpp"

namespace stoker::kernels::crop {

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "crop";
  const auto add = [&](const std::string& label, const Shape& shape, std::int64_t x, std::int64_t y,
                       std::int64_t width, std::int64_t height) {
    image::add_move_cases(suite, label, shape,
                          {{"x", x}, {"y", y}, {"width", width}, {"height", height}});
  };
  add("one pixel", {1, 1, 1}, 0, 0, 1, 1);
  add("all", {7, 13, 3}, 0, 0, 13, 7);
  add("corner", {7, 13, 3}, 12, 6, 1, 1);
  add("middle", {31, 37, 3}, 5, 3, 17, 11);
  add("grey column", {31, 37, 1}, 7, 0, 1, 31);
  add("alpha row", {31, 37, 4}, 0, 30, 37, 1);
  add("aligned", {32, 64, 4}, 16, 8, 32, 16);
  image::add_move_cases(suite, "default offset", {7, 13, 4}, {{"width", 5}, {"height", 4}});
  image::add_cases(suite, "photo", {{480, 641, 3}},
                   {{"x", 1}, {"y", 1}, {"width", 639}, {"height", 479}}, true);
  image::add_case(suite, DType::f32, "past the cache", {{1060, 1010, 4}},
                  {{"x", 3}, {"width", 1005}, {"height", 1055}}, true);

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const image::Picture x{image::extent(call.shape()), inputs[0]};
    const std::int64_t left = call.params.integer("x");
    const std::int64_t top = call.params.integer("y");
    return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      return x.at(top + row, left + column, c);
    });
  };
  suite.bound = image::exact;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::crop
