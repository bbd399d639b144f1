#include "stoker/kernels/fft/radices.hpp"

#include <cmath>
#include <numbers>

namespace stoker::kernels::fft {

Result<Rows> rows_of(std::string_view op, const TensorSpec& input) {
  const std::size_t rank = input.shape.rank();
  if (rank < 2 || input.shape[rank - 1] != 2)
    return Error{std::string{op},
                 ErrorCode::shape_mismatch,
                 "expected pairs along the last axis and elements along the one before, got " +
                     input.to_string(),
                 {{"got", input.to_string()}}};
  Rows rows{1, input.shape[rank - 2]};
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) rows.rows *= input.shape[axis];
  return rows;
}

std::optional<std::vector<std::int64_t>> radices_of(std::int64_t n, std::int64_t largest) {
  std::vector<std::int64_t> radices;
  for (; n % 4 == 0; n /= 4) radices.push_back(4);
  for (std::int64_t prime = 2; prime * prime <= n; ++prime)
    for (; n % prime == 0; n /= prime) radices.push_back(prime);
  if (n > 1) radices.push_back(n);
  for (const std::int64_t radix : radices)
    if (radix > largest) return std::nullopt;
  return radices;
}

std::complex<double> root(std::int64_t k, std::int64_t n) {
  const std::int64_t eighth = 8 * k / n;
  std::int64_t rest = 8 * k - eighth * n;
  if (eighth % 2 == 1) rest = n - rest;
  const double angle = std::numbers::pi / 4 * (static_cast<double>(rest) / static_cast<double>(n));
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  switch (eighth % 8) {
    case 1: return {s, -c};
    case 2: return {-s, -c};
    case 3: return {-c, -s};
    case 4: return {-c, s};
    case 5: return {-s, c};
    case 6: return {s, c};
    case 7: return {c, s};
    default: return {c, -s};
  }
}

}  // namespace stoker::kernels::fft
