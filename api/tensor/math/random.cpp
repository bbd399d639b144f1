#include "stoker/api/tensor/math/random.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/complex.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/ordering.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::random {
namespace {

Tensor bits(const Tensor& key, const Shape& shape, DType dtype) {
  return Tensor{expr::apply_one(
      expr::find_op("random_bits"), {key.value()},
      {{"shape", expr::as_list(shape.extents())}, {"dtype", std::string{to_string(dtype)}}})};
}

/// The key to draw with now, and the next.
std::pair<Tensor, Tensor> parted(const Tensor& key) {
  const Tensor keys = split(key);
  return {squeeze(slice_along_axis(keys, 1, 1), Axes{0}),
          squeeze(slice_along_axis(keys, 0, 1), Axes{0})};
}

DType unsigned_of(std::size_t bytes) {
  return bytes == 1 ? DType::u8 : bytes == 2 ? DType::u16 : bytes == 4 ? DType::u32 : DType::u64;
}

/// Explicit bits of a mantissa.
int mantissa(DType dtype) {
  switch (dtype) {
    case DType::f64: return 52;
    case DType::f16: return 10;
    case DType::bf16: return 7;
    default: return 23;
  }
}

void check_float(const char* op, DType dtype) {
  if (!is_float(dtype))
    throw Error{op,
                ErrorCode::invalid_parameter,
                "expected a float dtype, got " + std::string{to_string(dtype)},
                {{"got", std::string{to_string(dtype)}}}};
}

/// In [0, 1): as many random bits as the mantissa has.
Tensor unit(const Tensor& key, const Shape& shape, DType dtype) {
  const DType raw = unsigned_of(size_of(dtype));
  const int width = static_cast<int>(8 * size_of(dtype));
  const Tensor drawn = bits(key, shape, raw);
  const Tensor top = right_shift(drawn, full({}, width - mantissa(dtype), raw));
  return as_type(top, dtype) * std::ldexp(1.0, -mantissa(dtype));
}

/// uniform_split of Nx, but never `high`: what rounds to it comes from half a step below, and lies
/// where numbers of the half step above `low` would, which nothing else rounds to.
Tensor between(const Tensor& key, const Shape& shape, double low, double high, DType dtype) {
  const Tensor spread = unit(key, shape, dtype) * (high - low) + low;
  const Tensor first = full({}, low, dtype);
  return select(spread < full({}, high, dtype), max(spread, first), first);
}

Tensor gumbel_of(const Tensor& key, const Shape& shape, DType dtype) {
  const double tiny = dtype == DType::f64   ? std::numeric_limits<double>::min()
                      : dtype == DType::f16 ? 0x1p-14
                                            : std::numeric_limits<float>::min();
  return -log(-log(between(key, shape, tiny, 1, dtype)));
}

/// randint_split of Nx: two draws are one number of twice the bits, of which the remainder is taken, so
/// that a span that divides 2^n badly does not show.
Tensor integers(const Tensor& key, std::int64_t low, std::int64_t high, const Shape& shape,
                DType dtype) {
  const std::size_t bytes = size_of(dtype);
  const int half = static_cast<int>(4 * bytes);
  const DType raw = unsigned_of(bytes);
  const Tensor keys = split(key);
  const Tensor first = full({}, low, dtype);
  const Tensor lower = bits(squeeze(slice_along_axis(keys, 1, 1), Axes{0}), shape, raw);
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (bytes < 8 && span == std::uint64_t{1} << 2 * half) return as_type(lower, dtype) + first;
  const std::uint64_t step = (std::uint64_t{1} << half) % span;
  const std::uint64_t multiplier = step * step % span;  // what the higher draw counts: 2^n
  // As wide as the product needs. Of eight bytes there is nothing wider: from 2^32 on the multiplier
  // wraps to 0, as in Nx, and the lower draw is all.
  const bool wraps = bytes == 4 && multiplier != 0 && span > std::uint64_t{1} << 16;
  const DType wide = bytes == 8 || wraps ? DType::u64 : DType::u32;
  const Tensor modulus = full({}, span, wide);
  Tensor offset = as_type(lower, wide) % modulus;
  if (multiplier != 0) {
    const Tensor higher = bits(squeeze(slice_along_axis(keys, 0, 1), Axes{0}), shape, raw);
    offset = (as_type(higher, wide) % modulus * full({}, multiplier, wide) + offset) % modulus;
  }
  return as_type(offset, dtype) + first;
}

/// Integers of `dtype` hold what is in [low, high), and something is.
void check_bounds(std::int64_t low, std::int64_t high, DType dtype) {
  const auto refused = [&](const std::string& expected) {
    return Error{"randint",
                 ErrorCode::invalid_parameter,
                 "expected " + expected + ", got [" + std::to_string(low) + ", " +
                     std::to_string(high) + ") of " + std::string{to_string(dtype)},
                 {{"dtype", std::string{to_string(dtype)}},
                  {"low", std::to_string(low)},
                  {"high", std::to_string(high)}}};
  };
  if (!is_integer(dtype) || low >= high) throw refused("an integer dtype and low < high");
  const int digits = static_cast<int>(8 * size_of(dtype)) - (is_signed(dtype) ? 1 : 0);
  const std::int64_t most =
      digits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << digits) - 1;
  const std::int64_t least = is_signed(dtype) ? -most - 1 : 0;
  if (low < least || high - 1 > most)
    throw refused("bounds within [" + std::to_string(least) + ", " + std::to_string(most) + "]");
}

}  // namespace

Tensor key(std::uint64_t seed) {
  return tensor<std::uint32_t>(
      {static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)});
}

Tensor split(const Tensor& key, std::int64_t parts) {
  return bits(key, Shape{parts, 2}, DType::u32);
}

Tensor fold_in(const Tensor& key, std::uint32_t data) {
  // {0, data}, made where the key lives.
  const Tensor counter = iota({2}, DType::u32) * full({}, data, DType::u32);
  return Tensor{expr::apply_one(expr::find_op("threefry2x32"), {key.value(), counter.value()})};
}

Tensor uniform_split(const Tensor& key, const Shape& shape, double low, double high, DType dtype) {
  check_float("uniform", dtype);
  return between(key, shape, low, high, dtype);
}

Drawn uniform(const Tensor& key, const Shape& shape, double low, double high, DType dtype) {
  const auto [mine, next] = parted(key);
  return {uniform_split(mine, shape, low, high, dtype), next};
}

Tensor normal_split(const Tensor& key, const Shape& shape, double mean, double deviation,
                    DType dtype) {
  check_float("normal", dtype);
  // Just above -1, where the inverse of erf is finite.
  const double lowest = -1 + std::ldexp(1.0, -mantissa(dtype) - 1);
  const Tensor flat = between(key, shape, lowest, 1, dtype);
  return erf_inv(flat) * (std::numbers::sqrt2 * deviation) + mean;
}

Drawn normal(const Tensor& key, const Shape& shape, double mean, double deviation, DType dtype) {
  if (is_complex(dtype)) {
    const double each = deviation / std::numbers::sqrt2;
    const Drawn re = normal(key, shape, mean, each, component_of(dtype));
    const Drawn im = normal(re.next, shape, 0, each, component_of(dtype));
    return {complex(re.values, im.values), im.next};
  }
  const auto [mine, next] = parted(key);
  return {normal_split(mine, shape, mean, deviation, dtype), next};
}

Tensor randint_split(const Tensor& key, std::int64_t low, std::int64_t high, const Shape& shape,
                     DType dtype) {
  check_bounds(low, high, dtype);
  return integers(key, low, high, shape, dtype);
}

Drawn randint(const Tensor& key, std::int64_t low, std::int64_t high, const Shape& shape,
              DType dtype) {
  const auto [mine, next] = parted(key);
  return {randint_split(mine, low, high, shape, dtype), next};
}

Tensor gumbel_split(const Tensor& key, const Shape& shape, DType dtype) {
  check_float("gumbel", dtype);
  return gumbel_of(key, shape, dtype);
}

Drawn gumbel(const Tensor& key, const Shape& shape, DType dtype) {
  const auto [mine, next] = parted(key);
  return {gumbel_split(mine, shape, dtype), next};
}

Drawn shuffle(const Tensor& key, const Tensor& x, std::int64_t axis, bool independent) {
  const std::size_t which = detail::checked_axis("shuffle", axis, x.rank());
  if (independent) {
    // 64 bits: among as many as fit in memory equal ones are rare.
    const auto [mine, next] = parted(key);
    const auto along = static_cast<std::int64_t>(which);
    return {take_along_axis(x, argsort(bits(mine, x.shape(), DType::u64), along), along), next};
  }
  const std::int64_t n = x.shape()[which];
  // As often as it takes that equal sort keys do not favour an order.
  const int rounds = n < 2 ? 1
                           : static_cast<int>(std::ceil(3 * std::log(static_cast<double>(n)) /
                                                        (32 * std::numbers::ln2)));
  auto [mine, next] = parted(key);
  Tensor order = iota(Shape{n});
  for (int round = 0; round < rounds; ++round) {
    const auto [now, later] = parted(mine);
    order = take(order, argsort(bits(now, Shape{n}, DType::u32)));
    mine = later;
  }
  return {take(x, order, axis), next};
}

Drawn choice(const Tensor& key, const Tensor& x, const Choice& how) {
  const std::size_t which = detail::checked_axis("choice", how.axis, x.rank());
  const std::int64_t n = x.shape()[which];
  if (how.weights.has_value() && how.weights.shape() != Shape{n})
    throw Error{"choice",
                ErrorCode::shape_mismatch,
                "expected one weight for each of " + std::to_string(n) + ", got " +
                    how.weights.spec().to_string(),
                {{"weights", how.weights.spec().to_string()}}};
  if (n == 0 || how.samples < 0 || (!how.replace && how.samples > n))
    throw Error{"choice",
                ErrorCode::invalid_parameter,
                "cannot choose " + std::to_string(how.samples) + " of " + std::to_string(n),
                {{"samples", std::to_string(how.samples)}, {"from", std::to_string(n)}}};
  const auto [mine, next] = parted(key);
  const auto indices = [&]() -> Tensor {
    if (!how.replace) {
      // Gumbel top-k: Kool, van Hoof, Welling, ICML 2019.
      const Tensor noise = gumbel_of(mine, Shape{n}, DType::f32);
      return top_k(how.weights.has_value() ? noise + log(how.weights) : noise, how.samples).indices;
    }
    if (!how.weights.has_value()) return integers(mine, 0, n, Shape{how.samples}, DType::s32);
    const Tensor steps = cumulative_sum(as_type(how.weights, DType::f32));
    const Tensor at =
        unit(mine, Shape{how.samples, 1}, DType::f32) * slice_along_axis(steps, n - 1, 1);
    return as_type(sum(steps <= at, {Axes{1}}), DType::s32);
  }();
  return {take(x, indices, how.axis), next};
}

}  // namespace stoker::random
