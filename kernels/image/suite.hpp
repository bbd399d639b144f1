// What the conformance suites of the image kernels share: awkward images, and doubles as pictures.
// Linked into tests and benchmarks only.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "stoker/kernels/cases.hpp"
#include "stoker/kernels/image/border.hpp"
#include "stoker/kernels/image/image.hpp"

namespace stoker::image {

/// Values of an image of this dtype: the whole range of u8, 0–1 for floats.
[[nodiscard]] inline Fill fill(DType dtype) {
  return dtype == DType::u8 ? Fill{.low = 0, .high = 255} : Fill{.low = 0, .high = 1};
}

/// A case over images of these shapes.
inline void add_case(KernelSuite& suite, DType dtype, const std::string& label,
                     const std::vector<Shape>& shapes, const Params& params = {},
                     bool heavy = false) {
  KernelCase sample;
  sample.label = label + " " + std::string{to_string(dtype)};
  for (const Shape& shape : shapes) sample.inputs.push_back({dtype, shape});
  sample.params = params;
  sample.fills = {fill(dtype)};
  sample.heavy = heavy;
  suite.cases.push_back(std::move(sample));
}

/// One for each dtype of images.
inline void add_cases(KernelSuite& suite, const std::string& label,
                      const std::vector<Shape>& shapes, const Params& params = {},
                      bool heavy = false) {
  for (const DType dtype : dtypes()) add_case(suite, dtype, label, shapes, params, heavy);
}

/// Sizes that break careless loops, in 1, 3 and 4 channels: empty, single, thin, prime, and rows
/// that are no multiple of a vector or a group.
[[nodiscard]] inline std::vector<std::pair<std::string, Shape>> awkward_images() {
  return {
      {"no rows", {0, 5, 3}},          {"no columns", {5, 0, 1}},      {"one pixel", {1, 1, 1}},
      {"one colour pixel", {1, 1, 3}}, {"one alpha pixel", {1, 1, 4}}, {"row", {1, 127, 3}},
      {"column", {127, 1, 3}},         {"prime grey", {7, 13, 1}},     {"prime colour", {13, 7, 3}},
      {"prime alpha", {7, 13, 4}},     {"wide", {5, 1021, 3}},         {"aligned", {32, 64, 4}},
      {"square", {67, 67, 3}}};
}

inline void add_awkward(KernelSuite& suite, const std::string& label, const Params& params = {}) {
  for (const auto& [name, shape] : awkward_images())
    add_cases(suite, label.empty() ? name : label + ", " + name, {shape}, params);
}

/// `value` as an image of this dtype stores it; floats are left to the error bound.
[[nodiscard]] inline double stored(DType dtype, double value) {
  return dtype == DType::u8 ? std::clamp(std::floor(value + 0.5), 0.0, 255.0) : value;
}

/// One grey level where a result of exactly half a level may round either way, else the rounding of
/// a few f32 operations and of the dtype itself.
[[nodiscard]] inline ErrorBound rounding_bound(const KernelCall& call) {
  switch (call.dtype()) {
    case DType::u8: return {.absolute = 1};
    case DType::f16: return {.absolute = 1e-4, .relative = 1.0 / 1024};
    default: return {.absolute = 4e-6, .relative = 4e-6};
  }
}

/// An image of doubles with a border.
struct Picture {
  Extent extent;
  const std::vector<double>& values;
  Border border = Border::replicate;

  [[nodiscard]] double at(std::int64_t y, std::int64_t x, std::int64_t c) const {
    const std::int64_t row = border_index(border, y, extent.height);
    const std::int64_t column = border_index(border, x, extent.width);
    if (row < 0 || column < 0) return 0.0;
    return values[static_cast<std::size_t>((row * extent.width + column) * extent.channels + c)];
  }
};

/// The outputs' only image: at(y, x, c) for every element, as stored in `output`'s dtype.
template <class At>
[[nodiscard]] std::vector<std::vector<double>> draw(const TensorSpec& output, const At& at) {
  const Extent size = extent(output.shape);
  std::vector<double> values;
  values.reserve(output.elements());
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x)
      for (std::int64_t c = 0; c < size.channels; ++c)
        values.push_back(stored(output.dtype, at(y, x, c)));
  return {std::move(values)};
}

}  // namespace stoker::image
