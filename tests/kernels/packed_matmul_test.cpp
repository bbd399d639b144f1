// Products with packed weights and numbers that the conformance suites do not draw: infinite ones, and those that are
// nearly too large.
#include <gtest/gtest.h>

#include <limits>

#include "cpu_run.hpp"

namespace stoker {
namespace {

/// `rows` rows of `first` and 15 zeros, times a column of weights 1/512 and one of -1/512.
std::vector<float> product(std::int64_t rows, float first) {
  std::vector<float> a(static_cast<std::size_t>(rows) * 16);
  for (std::size_t i = 0; i < a.size(); i += 16) a[i] = first;
  std::vector<std::uint8_t> numbers(8, 0xAA);  // of 4 bits: 10 in the first column, 6 in the second
  numbers.resize(16, 0x66);
  const std::vector<float> scales(2, 1.0F / 1024);
  const Bytes inputs[] = {bytes_of(std::span<const float>{a}),
                          bytes_of(std::span<const std::uint8_t>{numbers}),
                          bytes_of(std::span<const float>{scales})};
  const KernelOutputs made = run_kernel(
      "packed_matmul",
      {{DType::f32, Shape{rows, 16}}, {DType::u8, Shape{2, 1, 8}}, {DType::f32, Shape{2, 1}}},
      inputs, {{"bits", 4}, {"block_size", 16}, {"zero_point", 8}});
  return values_in<float>(made.bytes[0]);
}

TEST(PackedMatmul, gives_the_same_of_infinite_and_of_large_numbers_for_any_number_of_rows) {
  for (const std::int64_t rows : {1, 2, 5, 9, 20})
    for (const float first : {std::numeric_limits<float>::infinity(), 3e38F}) {
      std::vector<float> expected;
      for (std::int64_t row = 0; row < rows; ++row)
        expected.insert(expected.end(), {first / 512, -first / 512});
      EXPECT_EQ(product(rows, first), expected) << rows << " rows of " << first;
    }
}

}  // namespace
}  // namespace stoker
