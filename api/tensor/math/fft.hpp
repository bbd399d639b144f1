// Discrete Fourier transforms: X[k] = Σ x[j]·e^(-2πi·jk/n), of any length n.
//
//     Tensor spectrum = fft(signal);                           // c64, along the last axis
//     Tensor padded = fft(signal, {.length = power_of_two});   // with zeros, to 2^k
//     Tensor half = rfft(signal);                              // n/2 + 1 of a real signal
//
// Real input becomes complex: f64 becomes c128, all others c64. All gradients are exact.
//
// Threads: any. Errors are thrown: invalid_parameter for a length below 1 or an axis out of range,
// dtype_mismatch for complex input to rfft.
#pragma once

#include <array>
#include <optional>
#include <variant>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The smallest power of two that is not less than the axis' extent.
struct PowerOfTwo {};
inline constexpr PowerOfTwo power_of_two{};

/// The transform's length: a shorter axis is padded with zeros, a longer one is cut.
using FftLength = std::optional<std::variant<std::int64_t, PowerOfTwo>>;

struct Fft {
  FftLength length = {};  ///< none: the axis' extent
  std::int64_t axis = -1;
  double eps = 1e-10;  ///< real and imaginary parts of at most this size become 0
};

[[nodiscard]] Tensor fft(const Tensor& x, const Fft& how = {});
/// The inverse: e^(+2πi·jk/n), divided by n.
[[nodiscard]] Tensor ifft(const Tensor& x, const Fft& how = {});
/// The first n/2 + 1 elements of a real tensor's transform; the others are their conjugates.
[[nodiscard]] Tensor rfft(const Tensor& x, const Fft& how = {});
/// The inverse of rfft; the result is real. `length` is that of the result, by default 2·(extent -
/// 1), so an odd length must be given.
[[nodiscard]] Tensor irfft(const Tensor& x, const Fft& how = {});

struct Fft2 {
  std::array<FftLength, 2> lengths = {};
  std::array<std::int64_t, 2> axes = {-2, -1};
  double eps = 1e-10;
};
/// Along two axes.
[[nodiscard]] Tensor fft2(const Tensor& x, const Fft2& how = {});
[[nodiscard]] Tensor ifft2(const Tensor& x, const Fft2& how = {});

}  // namespace stoker
