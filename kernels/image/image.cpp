#include "stoker/kernels/image/image.hpp"

#include <cmath>

#include "stoker/kernels/image/gaussian.hpp"

namespace stoker::image {

Result<Extent> check(std::string_view op, const TensorSpec& image, std::string_view what) {
  const Shape& shape = image.shape;
  if (shape.rank() == 3 && (shape[2] == 1 || shape[2] == 3 || shape[2] == 4)) return extent(shape);
  const std::string name{what};
  return Error{std::string{op},
               ErrorCode::shape_mismatch,
               name + " is not an image [height, width, 1 | 3 | 4]: " + shape.to_string(),
               {{name, image.to_string()}}};
}

std::vector<DType> dtypes() { return {DType::u8, DType::f32, DType::f16}; }

Gaussian Gaussian::of(const Blur& blur) noexcept {
  const double sigma = blur.sigma;
  return {blur.radius, sigma > 0 ? sigma : 0.3 * (static_cast<double>(blur.radius) - 1.0) + 0.8};
}

double Gaussian::raw(std::int64_t k) const noexcept {
  const double x = static_cast<double>(k) / sigma;
  return std::exp(-0.5 * x * x);
}

double Gaussian::total() const noexcept {
  double sum = 1.0;
  for (std::int64_t k = 1; k <= radius; ++k) sum += 2.0 * raw(k);
  return sum;
}

std::vector<double> Gaussian::weights() const {
  const double scale = 1.0 / total();
  std::vector<double> all;
  for (std::int64_t k = 0; k <= radius; ++k) all.push_back(raw(k) * scale);
  return all;
}

}  // namespace stoker::image
