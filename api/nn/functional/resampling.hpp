// Images of another size: what each new place takes from the old ones.
//
//     Tensor y = resampled(x, 1, 40, {Resampling::bilinear});   // axis 1 has 40 places now
//
// The places of an axis of n, and of m after, cover the same range: place j of m lies at
// (j + 0.5)·n/m − 0.5 of n (half-pixel centres, as jax.image.resize and Axon have it). There it
// takes neighbours by a kernel of their distance, with weights that add up to 1, also at the
// borders. If m is smaller, antialiasing makes the kernel wider by n/m, so that no place is left
// out.
//
//     nearest   the one place floor((j + 0.5)·n/m)
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
[[nodiscard]] Words<Resampling> resampling_words();

struct ResampleOptions {
  Resampling method = Resampling::nearest;
  bool antialias = true;
};

/// The weights of n old places (rows) in each of m new ones (columns), row by row. Not of
/// "nearest".
[[nodiscard]] std::vector<double> resampling_weights(std::int64_t old_extent,
                                                     std::int64_t new_extent,
                                                     const ResampleOptions& options);

/// x with `extent` places along `axis`, in its dtype. All methods but "nearest" take floating-point
/// numbers only, and compute in f32 at least.
[[nodiscard]] Tensor resampled(const Tensor& x, std::int64_t axis, std::int64_t extent,
                               const ResampleOptions& options = {});

}  // namespace stoker::nn
