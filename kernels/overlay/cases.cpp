#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite.hpp"

namespace stoker::kernels::overlay {
namespace {

/// Every way two pictures can lie on each other.
void add_placements(KernelSuite& suite, std::int64_t below, std::int64_t above) {
  const std::string channels =
      std::to_string(above) + " on " + std::to_string(below) + " channels, ";
  const Shape base{13, 17, below};
  const Shape over{7, 5, above};
  const auto add = [&](const char* label, std::int64_t x, std::int64_t y, double alpha) {
    image::add_cases(suite, channels + label, {base, over}, {{"x", x}, {"y", y}, {"alpha", alpha}});
  };
  add("default", 0, 0, 1.0);
  add("inside", 3, 4, 0.5);
  add("clipped above and left", -2, -3, 0.75);
  add("clipped below and right", 14, 9, 0.75);
  add("outside", 17, 0, 1.0);
  add("far outside", -(1 << 30), 1 << 30, 1.0);
  add("invisible", 1, 1, 0.0);
  image::add_cases(suite, channels + "larger than the base", {{3, 2, below}, {31, 37, above}},
                   {{"x", -11}, {"y", -7}, {"alpha", 0.9}});
  image::add_cases(suite, channels + "nothing over", {base, {0, 5, above}}, {});
  image::add_cases(suite, channels + "empty base", {{0, 5, below}, over}, {});
}

}  // namespace

void suites(std::vector<KernelSuite>& all) {
  KernelSuite suite;
  suite.kernel = "overlay";
  for (const auto& [below, above] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 3}, {3, 4}, {4, 3}, {4, 4}})
    add_placements(suite, below, above);
  for (const std::int64_t channels : {1, 3, 4})
    image::add_cases(suite, "alone, " + std::to_string(channels) + " channels",
                     {{7, 13, channels}});
  image::add_cases(suite, "photo", {{480, 641, 3}, {300, 451, 4}}, {{"x", 101}, {"y", 57}}, true);

  suite.reference = [](const KernelCall& call, std::span<const TensorSpec> outputs,
                       const std::vector<std::vector<double>>& inputs) {
    const image::Picture base{image::extent(call.shape(0)), inputs[0]};
    if (inputs.size() == 1) return inputs;
    const image::Picture over{image::extent(call.shape(1)), inputs[1]};
    const double white = call.dtype() == DType::u8 ? 255.0 : 1.0;
    const std::int64_t x = call.params.integer("x");
    const std::int64_t y = call.params.integer("y");
    return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      const double own = base.at(row, column, c);
      const std::int64_t over_row = row - y;
      const std::int64_t over_column = column - x;
      if (over_row < 0 || over_row >= over.extent.height || over_column < 0 ||
          over_column >= over.extent.width)
        return own;
      const bool above = over.extent.has_alpha();
      const bool below = base.extent.has_alpha();
      const double a =
          call.params.real("alpha") * (above ? over.at(over_row, over_column, 3) / white : 1.0);
      const double b = below ? base.at(row, column, 3) / white : 1.0;
      const double r = a + b * (1 - a);
      if (c == 3) return r * white;
      return r > 0 ? (over.at(over_row, over_column, c) * a + own * b * (1 - a)) / r : own;
    });
  };
  suite.bound = image::rounding_bound;
  all.push_back(std::move(suite));
}

}  // namespace stoker::kernels::overlay
