#include "stoker/pipeline/tensor/graph/promotion.hpp"

#include <algorithm>
#include <limits>

namespace stoker::expr {
namespace {

DType signed_of(std::size_t bytes) {
  return bytes <= 1 ? DType::s8 : bytes <= 2 ? DType::s16 : bytes <= 4 ? DType::s32 : DType::s64;
}
DType unsigned_of(std::size_t bytes) {
  return bytes <= 1 ? DType::u8 : bytes <= 2 ? DType::u16 : bytes <= 4 ? DType::u32 : DType::u64;
}

std::size_t signed_bytes(std::int64_t number) {
  for (const std::size_t bytes : {1U, 2U, 4U}) {
    const std::int64_t limit = std::int64_t{1} << (8 * bytes - 1);
    if (number >= -limit && number < limit) return bytes;
  }
  return 8;
}
std::size_t unsigned_bytes(std::uint64_t number) {
  for (const std::size_t bytes : {1U, 2U, 4U})
    if (number < std::uint64_t{1} << (8 * bytes)) return bytes;
  return 8;
}

DType with_integer(DType tensor, std::int64_t number) {
  if (is_signed(tensor)) return signed_of(std::max(size_of(tensor), signed_bytes(number)));
  if (number < 0) return merged(tensor, signed_of(signed_bytes(number)));
  return unsigned_of(std::max(size_of(tensor), unsigned_bytes(static_cast<std::uint64_t>(number))));
}

}  // namespace

DType merged(DType a, DType b) noexcept {
  if (a == b) return a;
  if (a == DType::boolean) a = DType::u8;
  if (b == DType::boolean) b = DType::u8;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = component_of(a) == DType::f64 || component_of(b) == DType::f64;
    return wide ? DType::c128 : DType::c64;
  }
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  const std::size_t bytes = std::max(size_of(a), size_of(b));
  if (is_float(a)) {
    if (bytes == 2) return DType::f16;
    return bytes == 8 ? DType::f64 : DType::f32;
  }
  if (is_signed(a) == is_signed(b)) return is_signed(a) ? signed_of(bytes) : unsigned_of(bytes);
  const DType positive = is_signed(a) ? b : a;
  const DType negative = is_signed(a) ? a : b;
  return signed_of(std::max(std::min<std::size_t>(2 * size_of(positive), 8), size_of(negative)));
}

DType merged(DType tensor, const Literal& literal) noexcept {
  if (tensor == DType::boolean) tensor = DType::u8;
  if (std::holds_alternative<std::complex<double>>(literal)) return complexed(tensor);
  if (is_inexact(tensor)) return tensor;
  if (std::holds_alternative<double>(literal)) return DType::f32;
  if (const auto* number = std::get_if<std::int64_t>(&literal))
    return with_integer(tensor, *number);
  const std::uint64_t number = std::get<std::uint64_t>(literal);
  if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return with_integer(tensor, static_cast<std::int64_t>(number));
  return is_signed(tensor) ? DType::s64 : DType::u64;
}

DType dtype_of_literal(const Literal& literal) noexcept {
  if (std::holds_alternative<double>(literal)) return DType::f32;
  if (std::holds_alternative<std::complex<double>>(literal)) return DType::c64;
  const auto* number = std::get_if<std::uint64_t>(&literal);
  const bool is_long =
      number && *number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return is_long ? DType::u64 : merged(DType::s32, literal);
}

DType floating(DType dtype) noexcept { return is_inexact(dtype) ? dtype : DType::f32; }

DType complexed(DType dtype) noexcept {
  return component_of(dtype) == DType::f64 ? DType::c128 : DType::c64;
}

DType aggregated(DType dtype) noexcept {
  if (is_inexact(dtype)) return dtype;
  if (size_of(dtype) == 8) return DType::s64;
  return is_signed(dtype) ? DType::s32 : DType::u32;
}

}  // namespace stoker::expr
