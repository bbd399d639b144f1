#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stoker/pipeline/kernel_graph/memory_plan.hpp"

namespace stoker {
namespace {

using After = std::vector<std::vector<std::uint32_t>>;

TEST(Arena, gives_values_that_follow_each_other_the_same_place) {
  const After chain{{}, {0}, {1}, {2}};
  const Ancestry ancestry{chain};
  const std::vector<ArenaItem> items{{1000, 0, {1}}, {1000, 1, {2}}, {1000, 2, {3}}};
  const ArenaPlan plan = plan_arena(items, ancestry);
  EXPECT_EQ(plan.bytes, 2048U);
  EXPECT_EQ(plan.unshared_bytes, 3072U);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
}

TEST(Arena, never_shares_between_branches_that_may_overlap) {
  // 0 and 1 are independent; 2 joins them.
  const After branches{{}, {}, {0, 1}};
  const Ancestry ancestry{branches};
  const std::vector<ArenaItem> items{{512, 0, {2}}, {512, 1, {2}}};
  const ArenaPlan plan = plan_arena(items, ancestry);
  EXPECT_EQ(plan.bytes, 1024U);
}

TEST(Arena, aligns_every_offset) {
  const Ancestry ancestry{After{{}, {}, {}}};
  const std::vector<ArenaItem> items{{1, 0, {}}, {3, 1, {}}, {257, 2, {}}};
  for (const std::uint64_t offset : plan_arena(items, ancestry).offsets)
    EXPECT_EQ(offset % 256, 0U);
}

/// Whether no memory is given to one item before the other is over.
void expect_apart(const std::vector<ArenaItem>& items, const ArenaPlan& plan,
                  const Ancestry& ancestry) {
  const auto over = [&](const ArenaItem& a, const ArenaItem& b) {
    return ancestry.is_ancestor(a.first, b.first) &&
           std::ranges::all_of(a.readers,
                               [&](auto reader) { return ancestry.is_ancestor(reader, b.first); });
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    EXPECT_LE(plan.offsets[i] + items[i].bytes, plan.bytes);
    for (std::size_t k = 0; k < i; ++k)
      if (plan.offsets[i] < plan.offsets[k] + items[k].bytes &&
          plan.offsets[k] < plan.offsets[i] + items[i].bytes) {
        EXPECT_TRUE(over(items[i], items[k]) || over(items[k], items[i])) << i << " and " << k;
      }
  }
}

TEST(Arena, gives_memory_twice_only_where_one_is_over_before_the_other_begins) {
  std::mt19937 random{3};
  const auto below = [&](std::uint32_t n) {
    return std::uniform_int_distribution<std::uint32_t>{0, n - 1}(random);
  };
  for (int round = 0; round < 30; ++round) {
    const std::uint32_t stages = 60;
    After after(stages);
    std::vector<ArenaItem> items(stages);
    for (std::uint32_t i = 0; i < stages; ++i) {
      items[i] = {(1 + below(6)) * 256 - below(2), i, {}};
      for (std::uint32_t input = 0; i > 0 && input < 1 + below(3); ++input) {
        const std::uint32_t earlier = i - 1 - below(std::min(i, 8U));
        after[i].push_back(earlier);
        items[earlier].readers.push_back(i);
      }
    }
    const Ancestry ancestry{after};
    const ArenaPlan plan = plan_arena(items, ancestry);
    expect_apart(items, plan, ancestry);
    EXPECT_LT(plan.bytes, plan.unshared_bytes);
  }
}

TEST(Arena, of_more_than_can_be_counted_has_too_many_bytes) {
  const std::uint64_t most = std::uint64_t{1} << 62;
  const Ancestry ancestry{After(8)};
  std::vector<ArenaItem> items;
  for (std::uint32_t i = 0; i < 8; ++i) items.push_back({most, i, {}});
  EXPECT_EQ(plan_arena(items, ancestry).bytes, ArenaPlan::too_many);
  EXPECT_EQ(plan_arena(std::span{items}.first(1), ancestry).bytes, most);
}

TEST(Ancestry, of_stages_far_apart_is_not_known_and_takes_no_memory) {
  After chain(3 * Ancestry::reach);
  for (std::uint32_t i = 1; i < chain.size(); ++i) chain[i] = {i - 1};
  const Ancestry ancestry{chain};
  const auto last = static_cast<std::uint32_t>(chain.size()) - 1;
  EXPECT_TRUE(ancestry.is_ancestor(last - 1, last));
  EXPECT_TRUE(ancestry.is_ancestor(last - Ancestry::reach, last));
  EXPECT_FALSE(ancestry.is_ancestor(0, last)) << "they share no memory, which is never wrong";
  EXPECT_TRUE(ancestry.is_ancestor(0, 100));
  EXPECT_FALSE(ancestry.is_ancestor(100, 0));
}

TEST(Ancestry, follows_dependencies_through_any_number_of_stages) {
  After chain(200);
  for (std::uint32_t i = 1; i < chain.size(); ++i) chain[i] = {i - 1};
  const Ancestry ancestry{chain};
  EXPECT_TRUE(ancestry.is_ancestor(0, 199));
  EXPECT_FALSE(ancestry.is_ancestor(199, 0));
  EXPECT_FALSE(ancestry.is_ancestor(5, 5));
}

}  // namespace
}  // namespace stoker
