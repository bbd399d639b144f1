#include "stoker/device/vulkan/submission/fill_plan.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace stoker::device::vulkan {
namespace {

/// Carries out a plan on host memory the way the encoder does with commands.
std::vector<std::byte> carried_out(std::span<const std::byte> pattern, std::uint64_t offset,
                                   std::uint64_t bytes) {
  const FillPlan plan = plan_fill(pattern, offset, bytes);
  EXPECT_FALSE(plan.by_doubling);
  EXPECT_EQ(plan.head + plan.words + plan.tail, bytes);
  EXPECT_EQ(plan.words % 4, 0U);
  EXPECT_TRUE(plan.words == 0 || (offset + plan.head) % 4 == 0);
  std::vector<std::byte> memory(bytes);
  const std::span<std::byte> all{memory};
  repeat_pattern(pattern, 0, all.first(plan.head));
  for (std::uint64_t i = 0; i < plan.words; i += 4)
    std::memcpy(memory.data() + plan.head + i, &plan.word, 4);
  repeat_pattern(pattern, plan.head + plan.words, all.last(plan.tail));
  return memory;
}

TEST(FillPlan, repeats_the_element_whatever_the_offset_and_length) {
  const std::byte pattern[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  for (const std::size_t width : {1U, 2U, 4U})
    for (std::uint64_t offset = 0; offset < 8; ++offset)
      for (std::uint64_t bytes = 0; bytes < 24; ++bytes) {
        const auto memory = carried_out(std::span{pattern}.first(width), offset, bytes);
        for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(memory[i], pattern[i % width]);
      }
}

TEST(FillPlan, eight_bytes_of_equal_halves_are_words) {
  const std::uint64_t zero = 0;
  EXPECT_FALSE(plan_fill(std::as_bytes(std::span{&zero, 1}), 0, 64).by_doubling);
}

TEST(FillPlan, eight_bytes_of_unequal_halves_are_copied) {
  const double value = 1.5;
  EXPECT_TRUE(plan_fill(std::as_bytes(std::span{&value, 1}), 0, 64).by_doubling);
}

}  // namespace
}  // namespace stoker::device::vulkan
