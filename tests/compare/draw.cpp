#include "draw.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace stoker::compare {
namespace {

double largest(DType dtype) {
  return dtype == DType::f16    ? 65504
         : dtype == DType::bf16 ? 0x1.fep127
         : dtype == DType::f64  ? std::numeric_limits<double>::max()
                                : double{std::numeric_limits<float>::max()};
}

double smallest(DType dtype) {
  return dtype == DType::f16 ? 0x1p-14 : dtype == DType::f64 ? 0x1p-1022 : 0x1p-126;
}

}  // namespace

std::int64_t Draw::integer(std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>{low, high}(random_);
}

double Draw::real(double low, double high) {
  return std::uniform_real_distribution<double>{low, high}(random_);
}

std::int64_t Draw::extent(std::int64_t most) {
  static const std::vector<std::int64_t> awkward{1,   2,   3,   4,   5,   7,   8,   9,   13,  16,
                                                 17,  31,  32,  33,  63,  64,  65,  67,  100, 127,
                                                 128, 129, 255, 256, 257, 300, 511, 513, 1025};
  for (int tries = 0; tries < 20; ++tries)
    if (const std::int64_t one = of(awkward); one <= most) return one;
  return 1;
}

Shape Draw::shape(std::size_t rank, std::int64_t elements) {
  std::vector<std::int64_t> extents;
  const auto axes = static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(rank)));
  for (std::size_t i = 0; i < axes; ++i) {
    extents.push_back(extent(std::max<std::int64_t>(elements, 1)));
    elements /= extents.back();
  }
  return Shape::make(extents, "compare");
}

Shape Draw::array(std::size_t rank, std::int64_t elements) {
  while (true)
    if (const Shape made = shape(rank, elements); made.rank() > 0) return made;
}

Shape Draw::beside(const Shape& shape) {
  std::vector<std::int64_t> extents(shape.begin(), shape.end());
  for (std::int64_t& one : extents)
    if (chance(0.25)) one = 1;
  if (!extents.empty() && chance(0.2)) extents.erase(extents.begin());
  return Shape::make(extents, "compare");
}

DType Draw::number() {
  static const std::vector<DType> all{DType::f32, DType::f64, DType::f16, DType::bf16,
                                      DType::s8,  DType::s16, DType::s32, DType::s64,
                                      DType::u8,  DType::u16, DType::u32, DType::u64};
  return of(all);
}

DType Draw::floating() {
  static const std::vector<DType> all{DType::f32, DType::f32, DType::f64, DType::f16, DType::bf16};
  return of(all);
}

double Draw::value(DType dtype, Range range) {
  const double sign = chance(0.5) ? -1 : 1;
  if (range == Range::moderate && chance(0.05)) return sign * static_cast<double>(integer(0, 4));
  if (range == Range::unit && chance(0.05)) return sign * static_cast<double>(integer(0, 1));
  if (range == Range::share && chance(0.05)) return static_cast<double>(integer(0, 1));
  switch (range) {
    case Range::moderate: return real(-4, 4);
    case Range::unit: return real(-1, 1);
    case Range::small: return real(-0.25, 0.25);
    case Range::share: return real(0, 1);
    case Range::positive: return std::pow(10, real(-3, 3));
    default: break;
  }
  const double kind = real(0, 1);
  if (kind < 0.5) return real(-4, 4);
  if (kind < 0.6) return sign * static_cast<double>(integer(0, 300)) / 2;
  if (kind < 0.9) {
    const double most = std::log(largest(dtype)), least = std::log(smallest(dtype));
    return sign * std::exp(real(least, most));
  }
  if (kind < 0.95) return sign * (1 + std::pow(10, real(-17, -1)) * (chance(0.5) ? 1 : -1));
  if (range == Range::any && kind < 0.96) return std::nan("");
  if (range == Range::any && kind < 0.97) return sign * HUGE_VAL;
  if (kind < 0.98) return sign * largest(dtype);
  if (kind < 0.99 && subnormal_) return sign * smallest(dtype) * real(0, 1);
  return sign * 0.0;
}

Tensor Draw::tensor(const TensorSpec& spec, Range range) {
  std::vector<std::byte> bytes(spec.bytes());
  if (is_complex(spec.dtype)) {
    const Tensor re = tensor({component_of(spec.dtype), spec.shape}, range);
    return complex(re, tensor({component_of(spec.dtype), spec.shape}, range)).eval();
  }
  visit_dtype(spec.dtype, [&]<class T>() {
    for (std::size_t i = 0; i < spec.elements(); ++i) {
      T one{};
      if constexpr (std::is_same_v<T, bool>)
        one = chance(0.5);
      else if constexpr (std::is_integral_v<T>) {
        if (range == Range::moderate || range == Range::unit)
          one = static_cast<T>(integer(std::is_signed_v<T> ? -9 : 0, 9));
        else if (range == Range::positive)
          one = static_cast<T>(integer(1, 100));
        else if (range == Range::share)
          one = static_cast<T>(integer(0, 1));
        else
          one = chance(0.4)   ? static_cast<T>(random_())
                : chance(0.1) ? std::numeric_limits<T>::max()
                : chance(0.1) ? std::numeric_limits<T>::min()
                              : static_cast<T>(integer(std::is_signed_v<T> ? -40 : 0, 40));
      } else if constexpr (std::is_same_v<T, double>)
        one = value(spec.dtype, range);
      else
        one = T{static_cast<float>(value(spec.dtype, range))};
      std::memcpy(bytes.data() + i * sizeof(T), &one, sizeof(T));
    }
  });
  return detail::from_bytes(spec, bytes);
}

Tensor Draw::integers(const TensorSpec& spec, std::int64_t low, std::int64_t high) {
  std::vector<std::byte> bytes(spec.bytes());
  visit_dtype(spec.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      for (std::size_t i = 0; i < spec.elements(); ++i) {
        const auto one = static_cast<T>(integer(low, high));
        std::memcpy(bytes.data() + i * sizeof(T), &one, sizeof(T));
      }
  });
  return detail::from_bytes(spec, bytes);
}

}  // namespace stoker::compare
