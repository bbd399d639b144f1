// Resamples one axis of an image to another extent.
//
//     Tensor y = resampled(x, 1, 40, {Resampling::bilinear}); // axis 1 now has extent 40
//
// The n old and m new positions cover the same range: new position j lies at old position (j +
// 0.5)·n/m − 0.5 (half-pixel centres, as in jax.image.resize and Axon). There a kernel of the
// distance d weights the neighbours; the weights add up to 1, also at the borders. When shrinking,
// antialiasing widens the kernel by n/m, so that every old position counts.
//
//     nearest the one position floor((j + 0.5)·n/m)
//     bilinear  1 − |d| to 1
//     bicubic   Keys' cubic with a = −½ to 2
//     lanczos3  sinc(d)·sinc(d/3) to 3; lanczos5 to 5
//
// Keys, IEEE ASSP 29 (1981); Duchon, J. Appl. Meteorol. 18 (1979).
//
// Pure functions; any thread; differentiable by x. Errors are thrown: dtype_mismatch,
// invalid_parameter, shape_mismatch.
#pragma once

#include <vector>

#include "stoker/api/nn/graph/options.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

enum class Resampling : std::uint8_t { nearest, bilinear, bicubic, lanczos3, lanczos5 };
[[nodiscard]] OptionWords<Resampling, 5> resampling_words();

struct ResampleOptions {
  Resampling method = Resampling::nearest;
  bool antialias = true;
};

/// The weights of old positions (rows) in each new one (columns), row-major. Not for "nearest".
[[nodiscard]] std::vector<double> resampling_weights(std::int64_t old_extent,
                                                     std::int64_t new_extent,
                                                     const ResampleOptions& options);

/// x resampled to `extent` along `axis`, in its dtype. All methods but "nearest" take
/// floating-point numbers only, and compute in f32 or wider.
[[nodiscard]] Tensor resampled(const Tensor& x, std::int64_t axis, std::int64_t extent,
                               const ResampleOptions& options = {});

}  // namespace stoker::nn
