// Random integers: every number of a range is as likely, whatever the range.
#include <algorithm>

#include "stoker/tests/tensor/fixture.hpp"

namespace stoker {
namespace {

using S = std::int64_t;

struct Range {
  DType dtype;
  S low;
  S high;
};
std::ostream& operator<<(std::ostream& out, const Range& range) {
  return out << to_string(range.dtype) << " [" << range.low << ", " << range.high << ")";
}

constexpr S two_to_31 = S{1} << 31;

std::vector<S> drawn(const Range& range, S count, std::uint64_t seed = 42) {
  return random::randint(random::key(seed), range.low, range.high, {count}, range.dtype)
      .values.to_vector<S>();
}

class Randint : public TensorsOnDevices {};

TEST_P(Randint, fills_eight_equal_parts_of_its_range_alike) {
  constexpr S count = 16384;
  for (const Range& range : std::vector<Range>{{DType::s8, -128, 128},
                                               {DType::s8, -100, 100},
                                               {DType::u8, 0, 256},
                                               {DType::u8, 0, 200},
                                               {DType::u8, 3, 123},
                                               {DType::s16, -32768, 32768},
                                               {DType::u16, 0, 65536},
                                               {DType::u16, 0, 50000},
                                               {DType::s32, -two_to_31, two_to_31},
                                               {DType::s32, -two_to_31, two_to_31 - 1},
                                               {DType::s32, -1'500'000'000, 1'500'000'000},
                                               {DType::u32, 0, 2 * two_to_31},
                                               {DType::u32, 0, 3'000'000'000},
                                               {DType::u32, 0, 100'000},
                                               {DType::s64, -3'000'000'000, 3'000'000'000},
                                               {DType::u64, 0, S{1} << 62}}) {
    SCOPED_TRACE(testing::Message() << range);
    const std::vector<S> numbers = drawn(range, count);
    const double span = static_cast<double>(range.high) - static_cast<double>(range.low);
    std::array<int, 8> parts{};
    for (const S number : numbers) {
      ASSERT_TRUE(number >= range.low && number < range.high) << number;
      ++parts[static_cast<std::size_t>(
          8 * (static_cast<double>(number) - static_cast<double>(range.low)) / span)];
    }
    // 2048 in each, with a deviation of 42.
    for (const int part : parts) EXPECT_NEAR(part, count / 8, 200);
  }
}

TEST_P(Randint, reaches_both_ends) {
  for (const Range& range : std::vector<Range>{{DType::s8, -128, 128},
                                               {DType::u8, 0, 256},
                                               {DType::u8, 250, 256},
                                               {DType::s16, 32764, 32768},
                                               {DType::s32, two_to_31 - 3, two_to_31},
                                               {DType::u32, 2 * two_to_31 - 2, 2 * two_to_31}}) {
    SCOPED_TRACE(testing::Message() << range);
    const std::vector<S> numbers = drawn(range, 8192);
    EXPECT_EQ(std::ranges::min(numbers), range.low);
    EXPECT_EQ(std::ranges::max(numbers), range.high - 1);
  }
  EXPECT_EQ(drawn({DType::s64, -5, -4}, 2), (std::vector<S>{-5, -5}));
}

TEST_P(Randint, gives_the_numbers_that_nx_documents) {
  const Tensor key = random::key(1701);
  EXPECT_EQ(random::randint_split(key, 1, 100, {3, 3, 2}, DType::u32).to_vector<S>(),
            (std::vector<S>{68, 4, 76, 75, 11, 75, 6, 85, 17, 42, 16, 33, 15, 12, 3, 88, 16, 92}));
  EXPECT_EQ(random::randint_split(key, 1, 100, {}, DType::s64).item<S>(), 91);
}

TEST_P(Randint, takes_the_remainder_of_two_draws_as_one_number) {
  // By hand: higher · 2^n + lower, which no dtype of n bits holds.
  const Tensor keys = random::split(random::key(9));
  const auto high = random::split(keys[0], 4).to_vector<std::uint64_t>();
  const auto low = random::split(keys[1], 4).to_vector<std::uint64_t>();
  const auto by_hand = [&](std::uint64_t span, int bits) {
    std::vector<std::uint64_t> numbers;
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    for (std::size_t i = 0; i < high.size(); ++i)
      numbers.push_back(((high[i] & mask) << bits | (low[i] & mask)) % span);
    return numbers;
  };
  const auto got = [](S span, DType dtype) {
    return random::randint_split(random::key(9), 0, span, {8}, dtype).to_vector<std::uint64_t>();
  };
  EXPECT_EQ(got(200, DType::u8), by_hand(200, 8));
  EXPECT_EQ(got(50'000, DType::u16), by_hand(50'000, 16));
  EXPECT_EQ(got(65'535, DType::u32), by_hand(65'535, 32));
  EXPECT_EQ(got(3'000'000'000, DType::u32), by_hand(3'000'000'000, 32));
  EXPECT_EQ(got(2 * two_to_31, DType::u32), by_hand(2 * two_to_31, 32));
}

TEST_P(Randint, refuses_what_its_dtype_does_not_hold) {
  for (const Range& range : std::vector<Range>{{DType::u8, 0, 300},
                                               {DType::u8, -5, 5},
                                               {DType::s8, 0, 1000},
                                               {DType::s8, -129, 0},
                                               {DType::s8, 0, 129},
                                               {DType::u16, 0, 65537},
                                               {DType::s32, 0, 3'000'000'000},
                                               {DType::u32, -1, 5},
                                               {DType::u64, -1, 5},
                                               {DType::s32, 4, 4},
                                               {DType::f32, 0, 4},
                                               {DType::boolean, 0, 2}}) {
    SCOPED_TRACE(testing::Message() << range);
    const Error error = error_of(
        [&] { return random::randint(random::key(1), range.low, range.high, {4}, range.dtype); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
    EXPECT_EQ(error.op(), "randint");
    const std::string text{error.reason()};
    EXPECT_NE(text.find("[" + std::to_string(range.low) + ", " + std::to_string(range.high) + ")"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(std::string{to_string(range.dtype)}), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Randint, every_device(), device_name);

TEST(RandintOnDevices, gives_the_same_numbers) {
  const System system;
  const auto on = [&](const char* device, const Range& range) {
    const DeviceScope scope{system.device(device)};
    return drawn(range, 257, 5);
  };
  for (const Range& range : std::vector<Range>{{DType::s8, -100, 100},
                                               {DType::u8, 0, 256},
                                               {DType::s16, -30'000, 30'000},
                                               {DType::s32, -two_to_31, two_to_31},
                                               {DType::u32, 0, 3'000'000'000},
                                               {DType::s64, -1, S{1} << 60}})
    EXPECT_EQ(on("cpu", range), on("vulkan", range)) << range;
}

}  // namespace
}  // namespace stoker
