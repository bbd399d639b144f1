#include "stoker/kernels/fill/value.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace stoker::kernels::fill {
namespace {

template <class T> Pattern repeat(T element) noexcept {
  Pattern bytes{};
  for (std::size_t i = 0; i < bytes.size(); i += sizeof element)
    std::memcpy(bytes.data() + i, &element, sizeof element);
  return bytes;
}

Error does_not_fit(DType dtype, std::string value, std::string_view why) {
  return Error{"fill",
               ErrorCode::invalid_parameter,
               "value " + value + " " + std::string{why} + " " + std::string{to_string(dtype)},
               {{"parameter", "value"},
                {"value", std::move(value)},
                {"dtype", std::string{to_string(dtype)}}}};
}

template <class T> Result<Pattern> integer_pattern(double real, std::int64_t integer) {
  using Limits = std::numeric_limits<T>;
  constexpr DType dtype = dtype_of<T>;
  if (real == 0) {
    const bool fits = std::is_signed_v<T>
                          ? integer >= static_cast<std::int64_t>(Limits::min()) &&
                                integer <= static_cast<std::int64_t>(Limits::max())
                          : integer >= 0 && static_cast<std::uint64_t>(integer) <= Limits::max();
    if (!fits) return does_not_fit(dtype, std::to_string(integer), "is out of range for");
    return repeat(static_cast<T>(integer));
  }
  if (std::isnan(real) || real != std::floor(real))
    return does_not_fit(dtype, to_string(ParamValue{real}), "is no whole number and does not fit");
  // 2^digits is exact in a double where the largest value itself may not be.
  const double beyond = std::ldexp(1.0, Limits::digits);
  if (real >= beyond || real < static_cast<double>(Limits::min()))
    return does_not_fit(dtype, to_string(ParamValue{real}), "is out of range for");
  return repeat(static_cast<T>(real));
}

/// The sum of both, of which one is 0.
Result<Pattern> pattern_of(double real, std::int64_t integer, DType dtype) {
  if (is_complex(dtype))
    return Error{"fill",
                 ErrorCode::dtype_mismatch,
                 "a complex buffer is not filled with one number; write its elements",
                 {{"got", std::string{to_string(dtype)}}}};
  return visit_dtype(dtype, [&]<class T>() -> Result<Pattern> {
    if constexpr (std::is_same_v<T, bool>)
      return repeat(static_cast<std::uint8_t>(real != 0 || integer != 0));
    else if constexpr (std::is_integral_v<T>)
      return integer_pattern<T>(real, integer);
    else if constexpr (std::is_same_v<T, double>)
      return repeat(integer != 0 ? static_cast<double>(integer) : real);
    else
      return repeat(
          static_cast<T>(static_cast<float>(integer != 0 ? static_cast<double>(integer) : real)));
  });
}

}  // namespace

Result<Pattern> pattern(const Fill& given, DType dtype) {
  if (given.value != 0 && given.value_int != 0)
    return Error{"fill",
                 ErrorCode::invalid_parameter,
                 "value and value_int are both given",
                 {{"parameter", "value_int"}}};
  return pattern_of(given.value, given.value_int, dtype);
}

Result<Pattern> pattern(double value, DType dtype) { return pattern_of(value, 0, dtype); }

}  // namespace stoker::kernels::fill
