#include "stoker/runtime/small_blocks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "stoker/runtime/sanitizers.hpp"

namespace stoker {
namespace {

constexpr std::size_t smallest = small_blocks::sizes.front();

TEST(SmallBlocks, are_distinct_while_they_are_taken) {
  for (const std::size_t bytes : {std::size_t{1}, smallest, smallest + 1, std::size_t{500}}) {
    std::set<void*> taken;
    for (int i = 0; i < 1000; ++i) {
      void* block = small_blocks::take(bytes);
      std::memset(block, i, bytes);
      EXPECT_TRUE(taken.insert(block).second);
    }
    for (void* block : taken) small_blocks::give(block, bytes);
  }
}

TEST(SmallBlocks, that_one_thread_gives_another_takes) {
  for (const std::size_t size : small_blocks::sizes) {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < 4 * small_blocks::magazine_size; ++i)
      blocks.push_back(small_blocks::take(size));
    const std::size_t before = small_blocks::kept(size);
    std::jthread{[&] {
      for (void* block : blocks) small_blocks::give(block, size);
    }}.join();
    if constexpr (sanitizers::address)
      EXPECT_EQ(small_blocks::kept(size), 0U) << "every block is the heap's, which finds misuse";
    else
      EXPECT_GT(small_blocks::kept(size), before) << "full magazines are handed on";
  }
}

TEST(SmallBlocks, are_kept_within_a_bound) {
  for (const std::size_t size : small_blocks::sizes) {
    const std::size_t most = small_blocks::most_kept(size);
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < most + 10 * small_blocks::magazine_size; ++i)
      blocks.push_back(small_blocks::take(size));
    for (void* block : blocks) small_blocks::give(block, size);
    EXPECT_LE(small_blocks::kept(size), most);
  }
}

TEST(SmallBlocks, what_is_larger_is_the_heaps) {
  constexpr std::size_t bytes = small_blocks::sizes.back() + 1;
  void* block = small_blocks::take(bytes);
  std::memset(block, 1, bytes);
  small_blocks::give(block, bytes);
  std::vector<int, small_blocks::Allocator<int>> numbers(10000, 7);
  EXPECT_EQ(numbers.back(), 7);
}

TEST(SmallBlocks, may_be_taken_and_given_by_all_threads_at_once) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (const std::size_t size : small_blocks::sizes) {
        std::vector<void*> blocks;
        for (int round = 0; round < 100; ++round) {
          for (int i = 0; i < 300; ++i) {
            blocks.push_back(small_blocks::take(size));
            std::memset(blocks.back(), t, size);
          }
          for (void* block : blocks) {
            const auto* bytes = static_cast<const unsigned char*>(block);
            EXPECT_EQ(bytes[size - 1], t);
            small_blocks::give(block, size);
          }
          blocks.clear();
        }
      }
    });
}

}  // namespace
}  // namespace stoker
