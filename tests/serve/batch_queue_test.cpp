// How batches are made of the requests that wait.
#include "stoker/api/serve/batch_queue.hpp"

#include <gtest/gtest.h>

#include "stoker/tests/serve/calls.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

class Queue : public testing::Test {
 protected:
  void rules(BatchRules given) { queue = BatchQueue{std::move(given)}; }
  /// A request of some rows comes.
  void comes(std::int64_t rows, std::int64_t signature = 0) {
    CallHolder call = call_of(rows, signature);
    last = call.pointer();
    queue.add(std::move(call), now);
  }
  /// The rows of each piece of the next batch; nothing if there is none.
  std::vector<std::int64_t> next() {
    batch = queue.take(now);
    std::vector<std::int64_t> rows;
    if (batch)
      for (const Piece& piece : batch->pieces) rows.push_back(piece.rows);
    return rows;
  }

  using Rows = std::vector<std::int64_t>;
  Clock::time_point now = Clock::time_point{} + 1h;
  BatchQueue queue{{.batch_size = 4}};
  std::optional<Batch> batch;
  CallPtr last;
};

TEST_F(Queue, give_what_is_there_at_once) {
  EXPECT_EQ(next(), Rows{});
  comes(1);
  comes(2);
  EXPECT_EQ(next(), (Rows{1, 2}));
  EXPECT_EQ(batch->rows, 3);
  EXPECT_EQ(batch->size, 3) << "nothing is padded unless sizes are given";
  EXPECT_TRUE(queue.empty());
}

TEST_F(Queue, give_at_most_a_batch_in_order_of_arrival) {
  for (int i = 0; i < 6; ++i) comes(1);
  EXPECT_EQ(next(), (Rows{1, 1, 1, 1}));
  EXPECT_EQ(next(), (Rows{1, 1}));
  comes(3);
  comes(2);
  comes(1);
  EXPECT_EQ(next(), Rows{3}) << "two more rows do not fit, and nobody is overtaken";
  EXPECT_EQ(next(), (Rows{2, 1}));
}

TEST_F(Queue, join_requests_of_equal_signature_only) {
  comes(1, 7);
  now += 1ms;
  comes(1, 3);
  now += 1ms;
  comes(1, 7);
  EXPECT_EQ(next(), (Rows{1, 1})) << "the line whose first has waited longest comes first";
  EXPECT_EQ(next(), Rows{1});
}

TEST_F(Queue, let_a_full_request_run_alone_behind_the_open_batch) {
  comes(1);
  comes(4);
  comes(1);
  EXPECT_EQ(next(), Rows{1});
  EXPECT_EQ(next(), Rows{4});
  EXPECT_EQ(next(), Rows{1});
}

TEST_F(Queue, cut_a_request_that_is_larger_than_a_batch) {
  comes(9);
  comes(2);
  EXPECT_EQ(next(), Rows{4});
  EXPECT_EQ(batch->pieces[0].first_row, 0);
  EXPECT_FALSE(batch->pieces[0].is_whole());
  EXPECT_EQ(next(), Rows{4});
  EXPECT_EQ(batch->pieces[0].first_row, 4);
  EXPECT_EQ(next(), (Rows{1, 2})) << "the last rows join others";
  EXPECT_EQ(batch->pieces[0].first_row, 8);
}

TEST_F(Queue, wait_until_a_batch_is_full_if_they_shall) {
  rules({.batch_size = 4, .timeout = 50ms, .wait = BatchWait::full});
  comes(2);
  EXPECT_EQ(next(), Rows{});
  EXPECT_EQ(queue.next_ready(), now + 50ms);
  comes(2);
  EXPECT_EQ(next(), (Rows{2, 2}));
}

TEST_F(Queue, wait_no_longer_than_the_time_out_after_the_first_entry) {
  rules({.batch_size = 4, .timeout = 50ms, .wait = BatchWait::full});
  comes(1);
  now += 30ms;
  comes(1);
  now += 19ms;
  EXPECT_EQ(next(), Rows{});
  now += 1ms;
  EXPECT_EQ(next(), (Rows{1, 1})) << "it kept growing";
  EXPECT_EQ(queue.next_ready(), Clock::time_point::max());
}

TEST_F(Queue, let_a_full_request_push_out_the_open_batch) {
  rules({.batch_size = 4, .timeout = 50ms, .wait = BatchWait::full});
  comes(1);
  comes(4);
  EXPECT_EQ(next(), Rows{1});
  EXPECT_EQ(next(), Rows{4});
}

TEST_F(Queue, change_batch_size_and_time_out_from_the_next_batch_on) {
  rules({.batch_size = 4, .timeout = 50ms, .wait = BatchWait::full});
  for (int i = 0; i < 3; ++i) comes(1);
  EXPECT_EQ(next(), Rows{});
  queue.set_batch_size(2);
  EXPECT_EQ(next(), (Rows{1, 1}));
  EXPECT_EQ(next(), Rows{});
  queue.set_timeout(0ns);
  EXPECT_EQ(next(), Rows{1});
}

TEST_F(Queue, pad_to_the_next_size) {
  rules({.batch_size = 8, .sizes = {2, 4}});
  const std::vector<std::pair<int, int>> expected{{1, 2}, {2, 2}, {3, 4}, {5, 8}, {8, 8}};
  for (const auto& [rows, size] : expected) {
    comes(rows);
    ASSERT_EQ(next(), Rows{rows});
    EXPECT_EQ(batch->size, size) << rows << " rows";
  }
}

TEST_F(Queue, take_as_many_rows_as_a_size_has_if_nothing_is_padded) {
  rules({.batch_size = 8, .sizes = {2, 4}, .padding = false});
  for (int i = 0; i < 7; ++i) comes(1);
  EXPECT_EQ(next(), (Rows{1, 1, 1, 1}));
  EXPECT_EQ(next(), (Rows{1, 1}));
  EXPECT_EQ(next(), Rows{1}) << "fewer than the smallest size run as they are";
  EXPECT_EQ(batch->size, 1);
}

TEST_F(Queue, drop_calls_that_were_answered) {
  comes(1);
  const CallPtr first = last;
  comes(2);
  first->cancel();
  EXPECT_EQ(next(), Rows{2});
  comes(3);
  last->cancel();
  queue.remove(*last);
  EXPECT_TRUE(queue.empty());
}

TEST_F(Queue, do_not_count_rows_of_answered_calls) {
  rules({.batch_size = 4, .timeout = 50ms, .wait = BatchWait::full});
  comes(2);
  comes(2);
  last->cancel();
  EXPECT_EQ(next(), Rows{}) << "the two rows that are left wait for others";
  now += 50ms;
  EXPECT_EQ(next(), Rows{2});
}

TEST_F(Queue, let_what_runs_again_come_first_as_it_was) {
  comes(1);
  comes(2);
  ASSERT_EQ(next(), (Rows{1, 2}));
  comes(1);
  queue.put_back(*batch);
  EXPECT_EQ(queue.next_ready(), Clock::time_point::min());
  EXPECT_EQ(next(), (Rows{1, 2}));
  EXPECT_TRUE(batch->again);
  EXPECT_EQ(next(), Rows{1});
}

TEST_F(Queue, do_not_run_again_for_calls_that_were_answered) {
  comes(1);
  const CallPtr first = last;
  comes(2);
  ASSERT_EQ(next(), (Rows{1, 2}));
  queue.put_back(*batch);
  first->cancel();
  EXPECT_EQ(next(), Rows{2});
  EXPECT_EQ(batch->rows, 2);
  queue.put_back(*batch);
  last->cancel();
  EXPECT_EQ(next(), Rows{});
}

TEST_F(Queue, hand_out_all_that_wait) {
  comes(5);
  ASSERT_EQ(next(), Rows{4});
  queue.put_back(*batch);
  comes(1, 1);
  EXPECT_EQ(queue.clear().size(), 3U);
  EXPECT_TRUE(queue.empty());
}

TEST(Calls, answer_once) {
  const CallHolder call = call_of(1);
  const Future<NamedValues> future = call->future();
  EXPECT_TRUE(call->fail(Error{"test", ErrorCode::unsupported, "first"}));
  EXPECT_FALSE(call->fail(Error{"test", ErrorCode::unsupported, "second"}));
  EXPECT_EQ(future.wait().error().reason(), "first");
}

TEST(Calls, answer_themselves_when_nobody_holds_them_any_more) {
  Future<NamedValues> future;
  {
    const CallHolder call = call_of(1);
    future = call->future();
    const CallHolder other{call};  // NOLINT: both hold it
    EXPECT_FALSE(future.ready());
  }
  ASSERT_TRUE(future.ready());
  EXPECT_EQ(future.wait().error().code(), ErrorCode::closed);
}

TEST(Calls, give_their_parts_in_order_of_rows_when_all_are_there) {
  const CallHolder call = call_of(5);
  EXPECT_TRUE(call->add({.first_row = 4, .rows = 1}).empty());
  EXPECT_TRUE(call->add({.first_row = 2, .rows = 2}).empty());
  const std::vector<Part> parts = call->add({.first_row = 0, .rows = 2});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].first_row, 2);
}

}  // namespace
}  // namespace stoker::serve
