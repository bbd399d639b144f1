#include <gtest/gtest.h>

#include "stoker/pipeline/memory_plan.hpp"

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
