#include "stoker/api/nn/functional/resampling.hpp"

#include "stoker/api/tensor.hpp"
#include "stoker/kernels/image/interpolation.hpp"

namespace stoker::nn {
namespace {

image::Interpolation filter_of(Resampling method) {
  switch (method) {
    case Resampling::bilinear: return image::Interpolation::linear();
    case Resampling::bicubic: return image::Interpolation::cubic();
    case Resampling::lanczos3: return image::Interpolation::lanczos(3);
    case Resampling::lanczos5: return image::Interpolation::lanczos(5);
    case Resampling::nearest: break;
  }
  throw Error{"resize",
              ErrorCode::invalid_parameter,
              "method: nearest has no weights",
              {{"parameter", "method"}, {"got", "nearest"}}};
}

Tensor nearest(const Tensor& x, std::int64_t axis, std::int64_t n, std::int64_t m) {
  std::vector<std::int32_t> from;
  for (std::int64_t to = 0; to < m; ++to)
    from.push_back(static_cast<std::int32_t>(image::half_pixel_nearest(to, n, m)));
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
  image::AxisWeights filter{filter_of(options.method),
                            image::filter_stretch(old_extent, new_extent, options.antialias),
                            old_extent, image::Beyond::nothing};
  const auto columns = static_cast<std::size_t>(new_extent);
  std::vector<double> weights(static_cast<std::size_t>(old_extent) * columns);
  for (std::int64_t to = 0; to < new_extent; ++to) {
    const auto taps = filter.at(image::half_pixel_place(to, old_extent, new_extent));
    std::size_t at = static_cast<std::size_t>(taps.first) * columns + static_cast<std::size_t>(to);
    for (const double weight : taps.weights) {
      weights[at] = weight;
      at += columns;
    }
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
