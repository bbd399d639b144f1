// Buffers that threads use past the device's queue: who may, and what those who write them see of it.
#include "stoker/device/memory/settled_reads.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <thread>
#include <vector>

namespace stoker {
namespace {

class SettledReadsTest : public testing::Test {
 protected:
  SettledReadsTest() {
    reads.set_notify([this] { notified.fetch_add(1); });
  }
  BufferState& buffer(bool late = false) {
    const TensorSpec spec{DType::f32, {16}};
    return buffers.emplace_back(
        buffers.size() + 1, spec,
        late ? nullptr : std::make_shared<MemoryLease>(nullptr, MemoryView{}, 64));
  }
  /// Whether a thread would get it now.
  [[nodiscard]] bool may_read(BufferState& buffer) {
    BufferState* const wanted = &buffer;
    return static_cast<bool>(reads.begin({&wanted, 1}));
  }

  std::deque<BufferState> buffers;
  SettledReads reads;
  std::atomic<int> notified{0};
};

TEST_F(SettledReadsTest, are_refused_while_a_writer_is_on_its_way) {
  BufferState& x = buffer();
  EXPECT_TRUE(may_read(x));
  x.unsettled.fetch_add(1);
  EXPECT_FALSE(may_read(x));
  x.unsettled.fetch_sub(1);
  EXPECT_TRUE(may_read(x));
}

TEST_F(SettledReadsTest, need_all_of_their_buffers) {
  BufferState& x = buffer();
  BufferState& y = buffer();
  std::vector<BufferState*> both{&x, &y};
  EXPECT_TRUE(reads.begin(both));
  y.released = true;
  EXPECT_FALSE(reads.begin(both));
  EXPECT_TRUE(reads.none()) << "what was refused reads nothing";
}

TEST_F(SettledReadsTest, of_a_late_buffer_need_a_first_writer) {
  BufferState& x = buffer(true);
  EXPECT_FALSE(may_read(x));
  x.note_written();
  EXPECT_TRUE(may_read(x));
}

TEST_F(SettledReadsTest, are_refused_from_a_failed_writer_on_until_another_has_overwritten_it) {
  BufferState& x = buffer();
  x.poison.add({1, Error{"write", ErrorCode::internal, "broke"}, nullptr});
  x.note_written();
  EXPECT_FALSE(may_read(x));
  x.poison.overwritten(2);
  x.note_written();
  EXPECT_TRUE(may_read(x));
}

TEST_F(SettledReadsTest, are_seen_until_they_end_and_tell_whoever_has_seen_them_once) {
  BufferState& x = buffer();
  BufferState& y = buffer();
  BufferState* const read = &x;
  {
    const auto reading = reads.begin({&read, 1});
    ASSERT_TRUE(reading);
    EXPECT_TRUE(reads.is_read(x));
    EXPECT_FALSE(reads.is_read(y));
    EXPECT_FALSE(reads.has_ended());
  }
  EXPECT_EQ(notified, 1);
  EXPECT_TRUE(reads.has_ended());
  EXPECT_FALSE(reads.has_ended()) << "said once";
  EXPECT_FALSE(reads.is_read(x));
}

TEST_F(SettledReadsTest, that_nobody_has_seen_tell_nobody) {
  BufferState& x = buffer();
  EXPECT_TRUE(may_read(x));
  EXPECT_EQ(notified, 0);
}

TEST_F(SettledReadsTest, that_have_begun_outlast_the_end_of_all_others) {
  BufferState& x = buffer();
  BufferState* const read = &x;
  {
    const auto reading = reads.begin({&read, 1});
    ASSERT_TRUE(reading);
    reads.close();
    EXPECT_FALSE(may_read(x));
    EXPECT_FALSE(reads.none());
  }
  EXPECT_TRUE(reads.none());
}

TEST_F(SettledReadsTest, are_so_many_at_a_time) {
  BufferState& x = buffer();
  BufferState* const read = &x;
  const auto begin_all = [&](const auto& self, std::size_t left) -> void {
    const auto reading = reads.begin({&read, 1});
    EXPECT_EQ(static_cast<bool>(reading), left > 0);
    if (left > 0) self(self, left - 1);
  };
  begin_all(begin_all, SettledReads::most);
  EXPECT_TRUE(may_read(x));
}

// The thread sanitizer has its say, too: the contents are no atomics.
TEST_F(SettledReadsTest, of_many_threads_never_see_half_of_a_write) {
  constexpr int writes = 2000;
  struct Contents {
    int first = 0;
    int second = 0;
  } contents;
  BufferState& x = buffer();
  std::atomic<bool> over{false};
  std::atomic<int> torn{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      BufferState* const read = &x;
      while (!over)
        if (const auto reading = reads.begin({&read, 1}))
          if (contents.first != contents.second) ++torn;
    });
  for (int i = 1; i <= writes; ++i) {
    x.unsettled.fetch_add(1);
    while (reads.is_read(x)) std::this_thread::yield();
    contents.first = i;
    contents.second = i;
    x.unsettled.fetch_sub(1);
  }
  over = true;
  threads.clear();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(contents.second, writes);
}

}  // namespace
}  // namespace stoker
