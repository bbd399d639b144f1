// Numbers of JSON: every float is the nearest one to the text, every integer is exact.
#include "stoker/api/serve/protocol/json_number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace stoker::serve::protocol {
namespace {

template <class T> NumberRead read(const std::string& text, T& value) {
  const char* at = text.data();
  return read_number(at, text.data() + text.size(), value);
}

/// The C library's reading, which rounds correctly.
float nearest(const std::string& text, float) { return std::strtof(text.c_str(), nullptr); }
double nearest(const std::string& text, double) { return std::strtod(text.c_str(), nullptr); }

template <class T> void expect_nearest(const std::string& text) {
  T value{};
  const T expected = nearest(text, T{});
  const NumberRead outcome = read(text, value);
  if (std::isinf(expected)) {
    EXPECT_EQ(outcome, NumberRead::out_of_range) << text;
    return;
  }
  EXPECT_EQ(outcome, NumberRead::done) << text;
  EXPECT_TRUE(value == expected && std::signbit(value) == std::signbit(expected))
      << text << ": " << value << ", not " << expected;
}

std::string digits(std::mt19937_64& random, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('0' + random() % 10);
  return text;
}

TEST(JsonNumbers, are_the_nearest_floats) {
  std::mt19937_64 random{7};
  for (int i = 0; i < 200'000; ++i) {
    std::string text = random() % 2 == 0 ? "-" : "";
    std::string whole = digits(random, 1 + random() % (i % 16 == 0 ? 40 : 12));
    if (const auto leading = whole.find_first_not_of('0'); leading == whole.npos)
      whole = "0";
    else
      whole.erase(0, leading);
    text += random() % 3 == 0 ? "0" : whole;
    if (random() % 4 != 0) text += "." + digits(random, 1 + random() % (i % 16 == 0 ? 40 : 18));
    if (random() % 4 == 0)
      text += (random() % 2 == 0 ? "e" : "E-") + std::to_string(random() % (i % 8 == 0 ? 400 : 50));
    expect_nearest<float>(text);
    expect_nearest<double>(text);
  }
}

TEST(JsonNumbers, are_the_nearest_floats_at_the_middle_between_two) {
  std::mt19937_64 random{8};
  for (int i = 0; i < 20'000; ++i) {
    // A float's neighbour in the middle, as a double has it, and the least above and below in decimal.
    const auto bits = static_cast<std::uint32_t>(0x30000000U + random() % 0x20000000U);
    const double middle = (static_cast<double>(std::bit_cast<float>(bits)) +
                           static_cast<double>(std::bit_cast<float>(bits + 1))) /
                          2;
    char text[400];
    std::snprintf(text, sizeof text, "%.60f", middle);
    expect_nearest<float>(text);
    expect_nearest<float>(std::string{text} + "1");
    std::snprintf(text, sizeof text, "%.17g", std::nextafter(middle, 0.0));
    expect_nearest<float>(text);
    std::snprintf(text, sizeof text, "%.17g", middle);
    expect_nearest<float>(text);
  }
  expect_nearest<float>("16777217");
  expect_nearest<float>("16777219");
  expect_nearest<float>("9007199791611905");
  expect_nearest<double>("9007199254740993");
  expect_nearest<double>("9007199254740992.5000000000000000000000000001");
}

TEST(JsonNumbers, beyond_the_floats_are_refused_and_below_them_are_0) {
  for (const char* text :
       {"3.4028235e38", "3.4028235677973366e38", "3.4028236e38", "1e39", "-1e400", "1e-45", "1e-46",
        "-1e-400", "0e400", "0.0e-99999999999999999999", "0.000001e44", "1000000e34", "1e-50",
        "123456789012345678901234567890e-80",
        "0.000000000000000000000000000000000000000000001e84"}) {
    expect_nearest<float>(text);
    expect_nearest<double>(text);
  }
  const std::string zeros(400, '0');
  expect_nearest<double>("1" + zeros);
  expect_nearest<double>("0." + zeros + "1");
  expect_nearest<double>("0." + zeros + "1e400");
  expect_nearest<double>("1" + zeros + "e-400");
  float huge{};
  EXPECT_EQ(read("1e99999999999999999999999", huge), NumberRead::out_of_range);
  EXPECT_EQ(read("1e-99999999999999999999999", huge), NumberRead::done);
  EXPECT_EQ(huge, 0.0F);
}

TEST(JsonNumbers, end_where_json_ends_them) {
  double value{};
  const auto length_of = [&](const std::string& text) {
    const char* at = text.data();
    EXPECT_EQ(read_number(at, text.data() + text.size(), value), NumberRead::done) << text;
    return at - text.data();
  };
  EXPECT_EQ(length_of("12,"), 2);
  EXPECT_EQ(length_of("12]"), 2);
  EXPECT_EQ(length_of("-0 "), 2);
  EXPECT_EQ(length_of("1.5}"), 3);
  EXPECT_EQ(length_of("1e5x"), 3);
  EXPECT_EQ(length_of("1E+5."), 4);
  EXPECT_EQ(length_of("0"), 1);
  for (const char* text : {"", "-", "+1", ".5", "1.", "1.e5", "1e", "1e-", "00", "-01", "a"})
    EXPECT_EQ(read(text, value), NumberRead::malformed) << text;
}

template <class T> void expect_exact_limits() {
  using Limits = std::numeric_limits<T>;
  T value{};
  EXPECT_EQ(read(std::to_string(Limits::max()), value), NumberRead::done);
  EXPECT_EQ(value, Limits::max());
  EXPECT_EQ(read(std::to_string(Limits::min()), value), NumberRead::done);
  EXPECT_EQ(value, Limits::min());
  EXPECT_EQ(read("-0", value), NumberRead::done);
  EXPECT_EQ(value, T{0});
  EXPECT_EQ(read(std::to_string(Limits::max()) + "0", value), NumberRead::out_of_range);
  EXPECT_EQ(read("1.0", value), NumberRead::not_integer);
  EXPECT_EQ(read("1e0", value), NumberRead::not_integer);
  EXPECT_EQ(read("01", value), NumberRead::malformed);
}

TEST(JsonNumbers, are_exact_integers) {
  expect_exact_limits<std::uint8_t>();
  expect_exact_limits<std::uint16_t>();
  expect_exact_limits<std::uint32_t>();
  expect_exact_limits<std::uint64_t>();
  expect_exact_limits<std::int8_t>();
  expect_exact_limits<std::int16_t>();
  expect_exact_limits<std::int32_t>();
  expect_exact_limits<std::int64_t>();
  std::uint64_t value{};
  EXPECT_EQ(read("18446744073709551616", value), NumberRead::out_of_range);
  EXPECT_EQ(read("99999999999999999999", value), NumberRead::out_of_range);
  std::int64_t number{};
  EXPECT_EQ(read("-9223372036854775809", number), NumberRead::out_of_range);
  EXPECT_EQ(read("-18446744073709551615", number), NumberRead::out_of_range);
}

}  // namespace
}  // namespace stoker::serve::protocol
