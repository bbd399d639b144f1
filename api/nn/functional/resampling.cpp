#include "stoker/api/nn/functional/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stoker/api/tensor.hpp"
#include "stoker/kernels/kernel.hpp"

namespace stoker::nn {
namespace {

using Kernel = double (*)(double distance);

double linear(double d) { return d < 1 ? 1 - d : 0; }

double cubic(double d) {
  if (d < 1) return (1.5 * d - 2.5) * d * d + 1;
  return d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0;
}

double sinc(double d) {
  const double at = std::numbers::pi * d;
  return at == 0 ? 1 : std::sin(at) / at;
}
template <int Radius> double lanczos(double d) {
  return d < Radius ? sinc(d) * sinc(d / Radius) : 0;
}

Kernel kernel_of(Resampling method) {
  switch (method) {
    case Resampling::bilinear: return &linear;
    case Resampling::bicubic: return &cubic;
    case Resampling::lanczos3: return &lanczos<3>;
    case Resampling::lanczos5: return &lanczos<5>;
    case Resampling::nearest: break;
  }
  throw Error{"resize",
              ErrorCode::invalid_parameter,
              "method: nearest has no weights",
              {{"parameter", "method"}, {"got", "nearest"}}};
}

/// Of place `to` of `m`: where it lies among `n`.
double place(std::int64_t to, std::int64_t n, std::int64_t m) {
  return (static_cast<double>(to) + 0.5) * static_cast<double>(n) / static_cast<double>(m);
}

Tensor nearest(const Tensor& x, std::int64_t axis, std::int64_t n, std::int64_t m) {
  std::vector<std::int32_t> from;
  for (std::int64_t to = 0; to < m; ++to)
    from.push_back(static_cast<std::int32_t>(std::floor(place(to, n, m))));
  return take(x, tensor(from, Shape{m}), axis);
}

}  // namespace

OptionWords<Resampling, 5> resampling_words() {
  return one_of<Resampling>({{"nearest", Resampling::nearest},
                             {"bilinear", Resampling::bilinear},
                             {"bicubic", Resampling::bicubic},
                             {"lanczos3", Resampling::lanczos3},
                             {"lanczos5", Resampling::lanczos5}});
}

std::vector<double> resampling_weights(std::int64_t old_extent, std::int64_t new_extent,
                                       const ResampleOptions& options) {
  const Kernel kernel = kernel_of(options.method);
  const double shrink = static_cast<double>(old_extent) / static_cast<double>(new_extent);
  const double width = options.antialias ? std::max(1.0, shrink) : 1.0;
  const auto columns = static_cast<std::size_t>(new_extent);
  std::vector<double> weights(static_cast<std::size_t>(old_extent) * columns);
  for (std::int64_t to = 0; to < new_extent; ++to) {
    const double centre = place(to, old_extent, new_extent) - 0.5;
    double sum = 0;
    for (std::int64_t from = 0; from < old_extent; ++from) {
      const double weight = kernel(std::abs(centre - static_cast<double>(from)) / width);
      weights[static_cast<std::size_t>(from) * columns + static_cast<std::size_t>(to)] = weight;
      sum += weight;
    }
    // The nearest neighbour is at most ½ away, where every kernel is high: the sum is above 0.
    for (std::size_t at = static_cast<std::size_t>(to); at < weights.size(); at += columns)
      weights[at] /= sum;
  }
  return weights;
}

Tensor resampled(const Tensor& x, std::int64_t axis, std::int64_t extent,
                 const ResampleOptions& options) {
  const auto rank = static_cast<std::int64_t>(x.rank());
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank || extent < 1 || x.shape()[static_cast<std::size_t>(at)] < 1)
    throw Error{"resize",
                ErrorCode::shape_mismatch,
                "expected an axis with elements and an extent of at least 1, got axis " +
                    std::to_string(axis) + " of " + x.shape().to_string() + " and " +
                    std::to_string(extent),
                {{"input", x.shape().to_string()}, {"extent", std::to_string(extent)}}};
  const std::int64_t now = x.shape()[static_cast<std::size_t>(at)];
  if (options.method == Resampling::nearest) return now == extent ? x : nearest(x, at, now, extent);
  if (!is_float(x.dtype()))
    throw Error{"resize",
                ErrorCode::dtype_mismatch,
                "only nearest resizes numbers that are not floating-point, got " +
                    std::string{to_string(x.dtype())},
                {{"input", x.spec().to_string()},
                 {"method", std::get<std::string>(options::written(
                                "resize", "method", options.method, resampling_words()))}}};
  if (now == extent) return x;  // every kernel is 1 at 0 and 0 at whole distances
  const DType wide = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const std::vector<double> weights = resampling_weights(now, extent, options);
  // Rounded here: not every device that has f32 has f64.
  const Shape shape{now, extent};
  const Tensor matrix = wide == DType::f64
                            ? tensor(weights, shape)
                            : tensor(std::vector<float>(weights.begin(), weights.end()), shape);
  // The new axis comes out last.
  const Tensor y = dot(as_type(x, wide), {Axes{at}}, matrix, {Axes{0}});
  Axes back;
  for (std::int64_t one = 0; one < rank; ++one)
    back.push_back(one < at ? one : one == at ? rank - 1 : one - 1);
  return as_type(transpose(y, back), x.dtype());
}

}  // namespace stoker::nn
