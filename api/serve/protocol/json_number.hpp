// Numbers of JSON, read straight to their type: integers exactly, floats rounded once, to nearest even.
//
// Pure functions; any thread; no memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>

namespace stoker::serve::protocol {

enum class NumberRead : std::uint8_t {
  done,
  malformed,     ///< no number of JSON begins there
  not_integer,   ///< it has a fraction or an exponent
  out_of_range,  ///< of the type
};

namespace detail {

inline bool is_digit(const char* at, const char* end) noexcept {
  return at != end && static_cast<unsigned char>(*at - '0') < 10;
}

/// Whether eight characters, the first one in the lowest byte, are digits.
inline bool are_digits(std::uint64_t word) noexcept {
  constexpr std::uint64_t high = 0xf0f0f0f0f0f0f0f0;
  return ((word & high) | ((word + 0x0606060606060606) & high) >> 4U) == 0x3333333333333333;
}
/// Their value: pairs are joined, then pairs of pairs, and again.
inline std::uint64_t value_of_digits(std::uint64_t word) noexcept {
  static_assert(std::endian::native == std::endian::little);
  word = (word & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8U;
  word = (word & 0x00ff00ff00ff00ff) * 6553601 >> 16U;
  return (word & 0x0000ffff0000ffff) * 42949672960001 >> 32U;
}

/// A number of JSON as it is written.
struct WrittenNumber {
  bool is_negative = false;
  bool is_integer = true;     ///< neither point nor exponent
  std::uint64_t digits = 0;   ///< all digits without the point; wraps if there are more than 19
  std::uint32_t count = 0;    ///< of digits
  std::int64_t exponent = 0;  ///< of ten, for `digits`
};

/// Moves `at` behind the number. False, with `at` where it is not JSON, if it is malformed.
inline bool scan(const char*& at, const char* end, WrittenNumber& number) noexcept {
  if (at != end && *at == '-') {
    number.is_negative = true;
    ++at;
  }
  if (!is_digit(at, end)) return false;
  const auto digits = [&] {
    const char* const first = at;
    for (std::uint64_t word = 0; end - at >= 8; at += 8) {
      std::memcpy(&word, at, sizeof word);
      if (!are_digits(word)) break;
      number.digits = number.digits * 100'000'000 + value_of_digits(word);
    }
    for (; is_digit(at, end); ++at)
      number.digits = number.digits * 10 + static_cast<unsigned char>(*at - '0');
    return at - first;
  };
  const char* const first = at;
  const auto whole = digits();
  if (whole > 1 && *first == '0') {
    at = first + 1;
    return false;
  }
  std::ptrdiff_t count = whole;
  if (at != end && *at == '.') {
    number.is_integer = false;
    ++at;
    const auto fraction = digits();
    if (fraction == 0) return false;
    count += fraction;
    number.exponent = -fraction;
  }
  number.count = static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(count, 1'000));
  if (at != end && (*at == 'e' || *at == 'E')) {
    number.is_integer = false;
    ++at;
    const bool is_negative = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    if (!is_digit(at, end)) return false;
    std::int64_t written = 0;
    constexpr std::int64_t enough = std::int64_t{1} << 48;  // no text has so many digits
    for (; is_digit(at, end); ++at)
      if (written < enough) written = written * 10 + (*at - '0');
    number.exponent += is_negative ? -written : written;
  }
  return true;
}

/// Reads an integer of one to four digits that the type has; false, and nothing is read, for any other text.
template <std::integral T> bool read_short(const char*& at, const char* end, T& value) noexcept {
  const char* behind = at;
  std::uint32_t number = 0;
  for (; is_digit(behind, end); ++behind) {
    if (behind - at == 4) return false;
    number = number * 10 + static_cast<unsigned char>(*behind - '0');
  }
  const bool has_more = behind != end && (*behind == '.' || *behind == 'e' || *behind == 'E');
  if (behind == at || has_more || (*at == '0' && behind - at > 1)) return false;
  if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return false;
  value = static_cast<T>(number);
  at = behind;
  return true;
}

/// Whether a number that is not 0, written from `first` to `last`, is below 1.
[[nodiscard]] bool is_small(const char* first, const char* last) noexcept;

}  // namespace detail

/// Reads a number. `at` is then behind it; if it is malformed, where it is.
template <std::floating_point T>
NumberRead read_number(const char*& at, const char* end, T& value) noexcept {
  static constexpr std::array<double, 23> powers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* const first = at;
  detail::WrittenNumber written;
  if (!detail::scan(at, end, written)) return NumberRead::malformed;
  // Digits and power are exact in double, so that the one operation rounds correctly.
  if (written.count <= 19 && written.digits <= std::uint64_t{1} << 53U && written.exponent >= -22 &&
      written.exponent <= 22) {
    const auto digits = static_cast<double>(written.digits);
    double exact = written.exponent < 0
                       ? digits / powers[static_cast<std::size_t>(-written.exponent)]
                       : digits * powers[static_cast<std::size_t>(written.exponent)];
    if (written.is_negative) exact = -exact;
    // A double halfway between two floats may have been rounded to there; every other one is on the same side of that
    // middle as the number itself.
    constexpr std::uint64_t below_float = (std::uint64_t{1} << 29U) - 1;
    constexpr std::uint64_t halfway = std::uint64_t{1} << 28U;
    if (std::same_as<T, double> || (std::bit_cast<std::uint64_t>(exact) & below_float) != halfway) {
      value = static_cast<T>(exact);
      return NumberRead::done;
    }
  }
  const auto [stop, failure] = std::from_chars(first, at, value);
  if (failure == std::errc{} && std::isfinite(value)) return NumberRead::done;
  if (!detail::is_small(first, at)) return NumberRead::out_of_range;
  value = written.is_negative ? -T{0} : T{0};
  return NumberRead::done;
}

template <std::integral T>
NumberRead read_number(const char*& at, const char* end, T& value) noexcept {
  const char* const first = at;
  if (detail::read_short(at, end, value)) return NumberRead::done;
  detail::WrittenNumber written;
  if (!detail::scan(at, end, written)) return NumberRead::malformed;
  if (!written.is_integer) return NumberRead::not_integer;
  std::uint64_t magnitude = written.digits;
  if (written.count > 19) {  // it may have wrapped
    const char* const digits = first + (written.is_negative ? 1 : 0);
    if (std::from_chars(digits, at, magnitude).ec != std::errc{}) return NumberRead::out_of_range;
  }
  using Limits = std::numeric_limits<T>;
  constexpr auto largest = static_cast<std::uint64_t>(Limits::max());
  if (!written.is_negative) {
    if (magnitude > largest) return NumberRead::out_of_range;
    value = static_cast<T>(magnitude);
  } else {
    if (magnitude > (std::signed_integral<T> ? largest + 1 : 0)) return NumberRead::out_of_range;
    value = static_cast<T>(0 - magnitude);
  }
  return NumberRead::done;
}

}  // namespace stoker::serve::protocol
