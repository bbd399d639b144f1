// How a transform's length comes apart, and the roots of unity.
//
// Pure functions; any thread.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/kernels/call.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker::kernels::fft {

/// Rows of pairs: [rows, n, 2].
struct Rows {
  std::int64_t rows = 0;
  std::int64_t n = 0;
};
[[nodiscard]] Result<Rows> rows_of(std::string_view op, const TensorSpec& input);

/// The radices of a length's passes, 4 as long as it divides, then 2 and the odd primes upwards, none
/// above `largest`; nothing if a larger prime divides it.
[[nodiscard]] std::optional<std::vector<std::int64_t>> radices_of(std::int64_t n,
                                                                  std::int64_t largest);

/// e^(-2πi·k/n), to the last place of a double or nearly so: the angle is within an eighth of a turn.
[[nodiscard]] std::complex<double> root(std::int64_t k, std::int64_t n);

}  // namespace stoker::kernels::fft
