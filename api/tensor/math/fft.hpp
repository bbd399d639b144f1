// Discrete Fourier transforms: X[k] = Σ x[j]·e^(-2πi·jk/n), of any length n.
//
//     Tensor spectrum = fft(signal);                           // c64, along the last axis
//     Tensor padded = fft(signal, {.length = power_of_two});   // with zeros, to 2^k
//     Tensor half = rfft(signal);                              // n/2 + 1 of a real signal
//
// Real input becomes complex: f64 c128, all others c64. Gradients of all of them are exact.
//
// Threads: any. Errors are thrown: invalid_parameter for a length below 1 or an axis that is not there,
// dtype_mismatch for complex input to rfft.
#pragma once

#include <array>
#include <optional>
#include <variant>

#include "stoker/api/tensor/core/tensor.hpp"

namespace stoker {

/// The least power of two that is not below the axis' extent.
struct PowerOfTwo {};
inline constexpr PowerOfTwo power_of_two{};

/// How many elements along the axis are transformed: what is missing is 0, what is beyond is cut.
using FftLength = std::optional<std::variant<std::int64_t, PowerOfTwo>>;

struct Fft {
  FftLength length = {};  ///< none: the axis' extent
  std::int64_t axis = -1;
  double eps = 1e-10;  ///< real and imaginary parts up to it in size become 0
};

[[nodiscard]] Tensor fft(const Tensor& x, const Fft& how = {});
/// The inverse: e^(+2πi·jk/n), divided by n.
[[nodiscard]] Tensor ifft(const Tensor& x, const Fft& how = {});
/// The first n/2 + 1 elements of a real tensor's transform; the others are their conjugates.
[[nodiscard]] Tensor rfft(const Tensor& x, const Fft& how = {});
/// The inverse of rfft: real. The length is the result's, by default 2·(extent - 1), so an odd one must be
/// given.
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
