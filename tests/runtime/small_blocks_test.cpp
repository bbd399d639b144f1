#include "stoker/runtime/small_blocks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "stoker/runtime/sanitizers.hpp"

namespace stoker {
namespace {

TEST(SmallBlocks, are_distinct_while_they_are_taken) {
  std::set<void*> taken;
  for (int i = 0; i < 1000; ++i) {
    void* block = small_blocks::take();
    std::memset(block, i, small_blocks::block_bytes);
    EXPECT_TRUE(taken.insert(block).second);
  }
  for (void* block : taken) small_blocks::give(block);
}

TEST(SmallBlocks, that_one_thread_gives_another_takes) {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < 4 * small_blocks::magazine_size; ++i)
    blocks.push_back(small_blocks::take());
  const std::size_t before = small_blocks::kept();
  std::jthread{[&] {
    for (void* block : blocks) small_blocks::give(block);
  }}.join();
  if constexpr (sanitizers::address)
    EXPECT_EQ(small_blocks::kept(), 0U) << "every block is the heap's, which finds misuse";
  else
    EXPECT_GT(small_blocks::kept(), before) << "full magazines are handed on";
}

TEST(SmallBlocks, are_kept_within_a_bound) {
  std::vector<void*> blocks;
  for (std::size_t i = 0; i < small_blocks::most_kept + 10 * small_blocks::magazine_size; ++i)
    blocks.push_back(small_blocks::take());
  for (void* block : blocks) small_blocks::give(block);
  EXPECT_LE(small_blocks::kept(), small_blocks::most_kept);
}

TEST(SmallBlocks, may_be_taken_and_given_by_all_threads_at_once) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<void*> blocks;
      for (int round = 0; round < 200; ++round) {
        for (int i = 0; i < 300; ++i) {
          blocks.push_back(small_blocks::take());
          std::memset(blocks.back(), t, small_blocks::block_bytes);
        }
        for (void* block : blocks) {
          const auto* bytes = static_cast<const unsigned char*>(block);
          EXPECT_EQ(bytes[small_blocks::block_bytes - 1], t);
          small_blocks::give(block);
        }
        blocks.clear();
      }
    });
}

}  // namespace
}  // namespace stoker
