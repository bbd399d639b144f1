#include "stoker/kernels/cases.hpp"

#include "stoker/kernels/image/suite_moves.hpp"
#include "stoker/kernels/morphology/options.hpp"

namespace stoker::kernels::morphology {
namespace {

/// Whether a pixel lies in the window, from the shape's definition.
bool in_window(const std::string& shape, std::int64_t radius, std::int64_t dy, std::int64_t dx) {
  if (shape == "cross") return dy == 0 || dx == 0;
  return shape != "disk" || dx * dx + dy * dy <= radius * radius;
}

KernelSuite suite_of(const char* kernel, bool most) {
  KernelSuite suite;
  suite.kernel = kernel;
  image::add_awkward(suite, "");
  for (const char* shape : {"square", "cross", "disk"}) {
    image::add_awkward(suite, std::string{shape} + ", radius 3", {{"shape", shape}, {"radius", 3}});
    for (const char* border : {"replicate", "reflect", "wrap", "constant"}) {
      const std::string name = std::string{shape} + ", " + border;
      const auto add = [&](const char* label, std::int64_t radius, const Shape& image) {
        image::add_cases(suite, name + ", " + label, {image},
                         {{"shape", shape}, {"radius", radius}, {"border", border}});
      };
      add("grey", 2, {13, 17, 1});
      add("colour", 4, {13, 37, 3});
      add("alpha", 1, {5, 300, 4});
      add("one pixel", 2, {1, 1, 3});
      add("two pixels", 1, {2, 2, 1});
      add("smaller than the window", 7, {3, 2, 4});
      add("radius 0", 0, {7, 13, 3});
    }
    image::add_cases(suite, std::string{shape} + ", largest radius", {{9, 41, 3}},
                     {{"shape", shape}, {"radius", 32}, {"border", "reflect"}});
    image::add_cases(suite, std::string{shape} + ", photo", {{480, 641, 3}}, {{"shape", shape}},
                     true);
  }

  suite.reference = [most](const KernelCall& call, std::span<const TensorSpec> outputs,
                           const std::vector<std::vector<double>>& inputs) {
    const auto given = options::from<Erode>(call.params);  // dilate has the same
    const image::Picture x{image::extent(call.shape()), inputs[0], given.border};
    const std::int64_t radius = given.radius;
    const std::string& shape = call.params.text("shape");
    return image::draw(outputs[0], [&](std::int64_t row, std::int64_t column, std::int64_t c) {
      double result = x.at(row, column, c);
      if (x.extent.has_alpha() && c == 3) return result;
      for (std::int64_t dy = -radius; dy <= radius; ++dy)
        for (std::int64_t dx = -radius; dx <= radius; ++dx) {
          if (!in_window(shape, radius, dy, dx)) continue;
          const double value = x.at(row + dy, column + dx, c);
          result = most ? std::max(result, value) : std::min(result, value);
        }
      return result;
    });
  };
  suite.bound = image::exact;
  return suite;
}

}  // namespace

void suites(std::vector<KernelSuite>& all) {
  all.push_back(suite_of("erode", false));
  all.push_back(suite_of("dilate", true));
}

}  // namespace stoker::kernels::morphology
