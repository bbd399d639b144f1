// Which requests come first: those of a higher priority, and of the key that has had the least.
#include <gtest/gtest.h>

#include "stoker/api/serve/batch_queue.hpp"
#include "stoker/tests/serve/calls.hpp"

namespace stoker::serve {
namespace {

using namespace std::chrono_literals;

class QueuePlaces : public testing::Test {
 protected:
  using Names = std::vector<std::int64_t>;

  void rules(BatchRules given) { queue.emplace(std::move(given)); }
  /// A request of one row, which is known by the order in which it came: 0, 1, ….
  CallPtr comes(Place place = {}, std::int64_t rows = 1) {
    CallHolder call = call_of(rows, 0, {}, place);
    CallPtr pointer = call.pointer();
    calls.push_back(pointer);
    queue->add(std::move(call), now);
    return pointer;
  }
  /// Who is in the next batch.
  Names next() {
    Names names;
    if (const std::optional<Batch> batch = queue->take(now))
      for (const Piece& piece : batch->pieces) names.push_back(name_of(piece.call));
    return names;
  }
  Names late() {
    Names names;
    for (const CallHolder& call : queue->take_late(now)) names.push_back(name_of(call));
    return names;
  }
  [[nodiscard]] std::int64_t name_of(const CallHolder& call) const {
    return std::ranges::find(calls, call.pointer()) - calls.begin();
  }

  const Clock::time_point never = Clock::time_point::max();
  Clock::time_point now = Clock::time_point{} + 1h;
  std::optional<BatchQueue> queue;
  std::vector<CallPtr> calls;
};

TEST_F(QueuePlaces, a_higher_priority_comes_first_and_lower_ones_fill_the_batch) {
  rules({.batch_size = 2, .levels = {{}, {}}});
  comes({.level = 1});
  comes({.level = 1});
  comes({.level = 0});
  EXPECT_EQ(next(), (Names{2, 0}));
  EXPECT_EQ(next(), (Names{1}));
}

TEST_F(QueuePlaces, a_request_of_high_priority_overtakes_the_rest_of_one_that_has_begun) {
  rules({.batch_size = 2, .levels = {{}, {}}});
  comes({.level = 1}, 5);
  EXPECT_EQ(next(), Names{0});
  comes({.level = 0});
  EXPECT_EQ(next(), Names{1}) << "a full batch's worth of rows runs alone";
  EXPECT_EQ(next(), Names{0});
  EXPECT_EQ(next(), Names{0});
  EXPECT_TRUE(queue->empty());
}

TEST_F(QueuePlaces, a_request_that_has_waited_too_long_is_given_back) {
  rules({.batch_size = 4, .levels = {{.timeout = 20ms}, {}}});
  const CallPtr first = comes({.level = 0});
  comes({.level = 1});
  EXPECT_EQ(queue->next_late(), now + 20ms);
  now += 10ms;
  comes({.level = 0});
  now += 9ms;
  EXPECT_EQ(late(), Names{});
  now += 1ms;
  EXPECT_EQ(late(), Names{0});
  EXPECT_EQ(queue->next_late(), now + 10ms);
  EXPECT_EQ(queue->late(0), 1U);
  EXPECT_EQ(queue->late(1), 0U);
  EXPECT_EQ(next(), (Names{2, 1}));
  EXPECT_EQ(queue->next_late(), never);
}

TEST_F(QueuePlaces, the_last_late_request_of_a_signature_leaves_nothing_behind) {
  rules({.levels = {{.timeout = 20ms}}});
  comes();
  now += 20ms;
  EXPECT_EQ(late(), Names{0});
  EXPECT_TRUE(queue->empty());
  EXPECT_EQ(queue->next_ready(), never);
}

TEST_F(QueuePlaces, a_request_that_was_cancelled_is_not_late) {
  rules({.levels = {{.timeout = 20ms}}});
  comes()->cancel();
  now += 20ms;
  EXPECT_EQ(late(), Names{});
  EXPECT_EQ(queue->late(0), 0U);
  EXPECT_TRUE(queue->empty());
}

TEST_F(QueuePlaces, a_request_that_has_begun_is_never_late) {
  rules({.batch_size = 2, .levels = {{.timeout = 20ms}}});
  comes({}, 3);
  EXPECT_EQ(next(), Names{0});
  comes();
  now += 20ms;
  EXPECT_EQ(late(), Names{1});
  EXPECT_EQ(next(), Names{0});
}

TEST_F(QueuePlaces, a_delayed_request_stands_behind_all_others_and_runs_when_nothing_else_waits) {
  rules(
      {.batch_size = 1, .levels = {{.timeout = 20ms, .action = LateAction::delay}, {}}, .keys = 2});
  comes({.level = 0});
  now += 20ms;
  EXPECT_EQ(late(), Names{}) << "it still waits";
  EXPECT_EQ(queue->late(0), 1U);
  EXPECT_EQ(queue->next_late(), never) << "once";
  comes({.key = 1, .level = 1});
  now += 1ms;
  comes({.level = 1});
  EXPECT_EQ(next(), Names{1}) << "the lowest priority, of another key";
  EXPECT_EQ(next(), Names{2});
  EXPECT_EQ(next(), Names{0});
}

TEST_F(QueuePlaces, a_delayed_request_fills_a_batch_that_has_place) {
  rules({.batch_size = 2, .levels = {{.timeout = 20ms, .action = LateAction::delay}, {}}});
  comes({.level = 0});
  now += 20ms;
  EXPECT_EQ(late(), Names{});
  comes({.level = 1});
  EXPECT_EQ(next(), (Names{1, 0}));
}

TEST_F(QueuePlaces, a_batch_waits_to_be_full_from_the_first_of_its_requests_whatever_its_priority) {
  rules({.batch_size = 3, .timeout = 50ms, .wait = BatchWait::full, .levels = {{}, {}}});
  comes({.level = 1});
  now += 40ms;
  comes({.level = 0});
  EXPECT_EQ(queue->next_ready(), now + 10ms);
  EXPECT_EQ(next(), Names{});
  now += 10ms;
  EXPECT_EQ(next(), (Names{1, 0}));
}

TEST_F(QueuePlaces, requests_of_different_keys_share_no_batch) {
  rules({.batch_size = 4, .keys = 2});
  comes({.key = 1});
  now += 1ms;
  comes({.key = 0});
  comes({.key = 1});
  EXPECT_EQ(next(), (Names{0, 2})) << "its first request has waited longest";
  EXPECT_EQ(next(), Names{1});
}

TEST_F(QueuePlaces, keys_take_turns_however_much_one_of_them_asks) {
  rules({.batch_size = 1, .keys = 2});
  for (int i = 0; i < 6; ++i) comes({.key = 0});
  EXPECT_EQ(next(), Names{0});
  EXPECT_EQ(next(), Names{1});
  comes({.key = 1});
  comes({.key = 1});
  EXPECT_EQ(next(), Names{6}) << "it has waited for the batch that ran, and for no other";
  EXPECT_EQ(next(), Names{2});
  EXPECT_EQ(next(), Names{7});
  EXPECT_EQ(next(), Names{3});
}

TEST_F(QueuePlaces, keys_share_by_rows_and_not_by_batches) {
  rules({.batch_size = 4, .keys = 2});
  comes({.key = 0}, 4);
  comes({.key = 0}, 4);
  for (int i = 0; i < 3; ++i) comes({.key = 1, .level = 0}, 3);
  EXPECT_EQ(next(), Names{0});
  EXPECT_EQ(next(), Names{2});
  EXPECT_EQ(next(), Names{3}) << "4 rows against 3";
  EXPECT_EQ(next(), Names{1}) << "4 rows against 6";
  EXPECT_EQ(next(), Names{4});
}

TEST_F(QueuePlaces, a_key_that_was_idle_gets_nothing_for_it) {
  rules({.batch_size = 1, .keys = 2});
  for (int i = 0; i < 8; ++i) comes({.key = 0});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(next(), Names{i});
  for (int i = 0; i < 4; ++i) comes({.key = 1});
  EXPECT_EQ(next(), Names{8});
  EXPECT_EQ(next(), Names{4});
  EXPECT_EQ(next(), Names{9}) << "they take turns: it does not make up for four batches";
}

TEST_F(QueuePlaces, a_key_does_not_pay_for_its_rows_of_a_priority_that_the_others_do_not_have) {
  rules({.batch_size = 1, .levels = {{}, {}}, .keys = 2});
  for (int i = 0; i < 5; ++i) comes({.key = 1, .level = 1});
  for (int i = 0; i < 8; ++i) comes({.key = 0, .level = 0});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(next(), Names{5 + i});
  now += 1ms;
  comes({.key = 0, .level = 1});
  EXPECT_EQ(next(), Names{0}) << "it has waited longer";
  EXPECT_EQ(next(), Names{1}) << "and has had as many rows";
  EXPECT_EQ(next(), Names{13});
  EXPECT_EQ(next(), Names{2});
}

TEST_F(QueuePlaces, a_batch_that_runs_again_counts_for_its_key) {
  rules({.batch_size = 1, .keys = 2});
  for (int i = 0; i < 2; ++i) comes({.key = 0});
  for (int i = 0; i < 2; ++i) comes({.key = 1});
  std::optional<Batch> failed = queue->take(now);
  queue->put_back(*std::move(failed));
  EXPECT_EQ(next(), Names{0}) << "again";
  EXPECT_EQ(next(), Names{2});
  EXPECT_EQ(next(), Names{3}) << "one row against two";
}

TEST_F(QueuePlaces, priority_goes_before_the_share_of_keys) {
  rules({.batch_size = 1, .levels = {{}, {}}, .keys = 2});
  comes({.key = 0, .level = 0});
  comes({.key = 0, .level = 0});
  comes({.key = 1, .level = 1});
  EXPECT_EQ(next(), Names{0});
  EXPECT_EQ(next(), Names{1});
  EXPECT_EQ(next(), Names{2});
}

}  // namespace
}  // namespace stoker::serve
