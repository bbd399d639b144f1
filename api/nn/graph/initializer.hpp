// How variables begin, by name: "glorot_uniform", "normal(scale=0.02)".
//
// The names, with their options and defaults:
//   zeros, ones, full(value)
//   identity                 a square matrix, or a batch of them
//   uniform(scale=0.01)      within ±scale
//   normal(mean=0, scale=0.01)
//   lecun_uniform, lecun_normal      variance_scaling(scale=1, mode=fan_in)
//   glorot_uniform, glorot_normal    variance_scaling(scale=1, mode=fan_avg)
//   he_uniform, he_normal            variance_scaling(scale=2, mode=fan_in)
//       each with another default for `scale`
//   variance_scaling(scale=0.01, mode=fan_in, distribution=normal)
//       variance scale/fan; mode fan_in, fan_out, fan_avg; distribution normal, uniform, or
//       truncated_normal, which leaves out what is beyond two deviations and makes up for it.
//       The ..._normal above are truncated.
//   orthogonal(distribution=normal)  rows or columns of length 1 at right angles (Saxe et al.,
//                                    arXiv:1312.6120); of more axes than two, the last is kept and
//                                    the others are one
//
// LeCun et al., "Efficient BackProp", 1998; Glorot and Bengio, AISTATS 2010; He et al., arXiv:1502.01852.
// The same key gives the same numbers on every device, but for orthogonal's roundings.
//
// Pure functions; any thread. Errors are thrown: not_found for a name, invalid_parameter for options,
// shape_mismatch for shapes that an initializer cannot fill.
#pragma once

#include <functional>

#include "stoker/api/nn/graph/named.hpp"
#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker::nn {

/// How many numbers go into one result, and how many results one number goes into.
struct Fans {
  double in = 1;
  double out = 1;
};
/// Of a kernel: {in, out}, or {space…, in, out}, of which each place in space counts. Of a vector both
/// are its length.
[[nodiscard]] Fans fans(const Shape& kernel);

/// Of a key u32[2], a shape and a float dtype. "zeros" and "ones" need no key and make any dtype.
using Initializer = std::function<Tensor(const Tensor& key, const Shape&, DType)>;

[[nodiscard]] Initializer initializer(const Named& wanted);

}  // namespace stoker::nn
