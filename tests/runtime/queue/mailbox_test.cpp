#include "stoker/runtime/queue/mailbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "stoker/runtime/execution/manual_executor.hpp"
#include "stoker/runtime/execution/thread_pool.hpp"
#include "stoker/runtime/process/process.hpp"

namespace stoker {
namespace {

using std::chrono::seconds;

struct Note final : Envelope {
  explicit Note(int number, int from = 0, bool is_system = false) : value(number), sender(from) {
    system = is_system;
    ++alive;
  }
  ~Note() override { --alive; }
  int value;
  int sender;
  static inline std::atomic<int> alive{0};
};

/// Pushes a new note; frees it if it was refused.
PushResult send(Mailbox& mailbox, int value, int sender = 0, bool system = false) {
  auto note = std::make_unique<Note>(value, sender, system);
  const PushResult result = mailbox.push(note.get());
  if (accepted(result)) static_cast<void>(note.release());
  return result;
}

/// The value of the next note, or -1.
int take(Mailbox& mailbox) {
  const std::unique_ptr<Envelope> envelope{mailbox.pop()};
  return envelope ? static_cast<Note&>(*envelope).value : -1;
}

/// The values of the notes that are dropped.
std::vector<int> trimmed(Mailbox& mailbox) {
  std::vector<int> values;
  Envelope* dropped = mailbox.trim();
  for (const Envelope* e = dropped; e != nullptr; e = e->next)
    values.push_back(static_cast<const Note*>(e)->value);
  delete_chain(dropped);
  return values;
}

TEST(Mailbox, is_first_in_first_out) {
  Mailbox mailbox;
  for (int i = 0; i < 5; ++i) send(mailbox, i);
  EXPECT_EQ(mailbox.size(), 5U);
  EXPECT_EQ(take(mailbox), 0);
  send(mailbox, 5);
  for (int i = 1; i < 6; ++i) EXPECT_EQ(take(mailbox), i);
  EXPECT_EQ(take(mailbox), -1);
  EXPECT_EQ(mailbox.size(), 0U);
}

TEST(Mailbox, only_the_push_that_finds_the_reader_idle_wakes_it) {
  Mailbox mailbox;
  EXPECT_EQ(send(mailbox, 1), PushResult::wake);
  EXPECT_EQ(send(mailbox, 2), PushResult::queued);
  EXPECT_EQ(take(mailbox), 1);
  EXPECT_FALSE(mailbox.try_block());
  EXPECT_EQ(take(mailbox), 2);
  EXPECT_EQ(send(mailbox, 3), PushResult::queued);
  EXPECT_FALSE(mailbox.try_block());
  EXPECT_EQ(take(mailbox), 3);
  EXPECT_TRUE(mailbox.try_block());
  EXPECT_TRUE(mailbox.try_block());
  EXPECT_EQ(send(mailbox, 4), PushResult::wake);
}

TEST(Mailbox, system_envelopes_overtake_and_are_never_refused) {
  Mailbox mailbox{2};
  send(mailbox, 1);
  send(mailbox, 2);
  EXPECT_EQ(send(mailbox, 3), PushResult::full);
  EXPECT_EQ(send(mailbox, 10, 0, true), PushResult::queued);
  EXPECT_EQ(send(mailbox, 11, 0, true), PushResult::queued);
  EXPECT_EQ(mailbox.size(), 2U);
  EXPECT_EQ(take(mailbox), 10);
  EXPECT_EQ(take(mailbox), 11);
  EXPECT_EQ(take(mailbox), 1);
  send(mailbox, 12, 0, true);
  EXPECT_EQ(take(mailbox), 12);
  EXPECT_EQ(take(mailbox), 2);
}

TEST(Mailbox, has_space_again_when_one_was_popped) {
  Mailbox mailbox{1};
  EXPECT_EQ(send(mailbox, 1), PushResult::wake);
  EXPECT_EQ(send(mailbox, 2), PushResult::full);
  EXPECT_EQ(take(mailbox), 1);
  EXPECT_EQ(send(mailbox, 3), PushResult::queued);
}

TEST(Mailbox, close_hands_out_what_is_left_and_refuses_the_rest) {
  Mailbox mailbox;
  send(mailbox, 1);
  send(mailbox, 2);
  send(mailbox, 9, 0, true);
  EXPECT_FALSE(mailbox.closed());
  Envelope* left = mailbox.close();
  EXPECT_TRUE(mailbox.closed());
  std::vector<int> values;
  for (const Envelope* e = left; e != nullptr; e = e->next)
    values.push_back(static_cast<const Note*>(e)->value);
  EXPECT_EQ(values, (std::vector{9, 1, 2}));
  delete_chain(left);
  EXPECT_EQ(send(mailbox, 3), PushResult::closed);
  EXPECT_EQ(send(mailbox, 4, 0, true), PushResult::closed);
  EXPECT_EQ(mailbox.size(), 0U);
  EXPECT_EQ(mailbox.close(), nullptr);
}

TEST(Mailbox, an_idle_reader_can_be_claimed_once) {
  Mailbox mailbox;
  EXPECT_TRUE(mailbox.claim());
  EXPECT_FALSE(mailbox.claim());
  EXPECT_EQ(send(mailbox, 1), PushResult::queued);
  EXPECT_EQ(take(mailbox), 1);
  EXPECT_TRUE(mailbox.try_block());
  EXPECT_EQ(send(mailbox, 2), PushResult::wake);
  EXPECT_FALSE(mailbox.claim());
}

TEST(Mailbox, deletes_what_nobody_took) {
  const int before = Note::alive;
  {
    Mailbox mailbox;
    for (int i = 0; i < 4; ++i) send(mailbox, i);
    EXPECT_EQ(take(mailbox), 0);
  }
  EXPECT_EQ(Note::alive, before);
}

TEST(Mailbox, the_reader_may_append_behind_all_that_came_in_whatever_the_capacity) {
  Mailbox mailbox{2};
  send(mailbox, 1);
  send(mailbox, 2);
  mailbox.append(std::make_unique<Note>(3).release());
  EXPECT_EQ(mailbox.size(), 2U) << "it takes nobody's place";
  EXPECT_EQ(send(mailbox, 4), PushResult::full);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(take(mailbox), i);
  EXPECT_EQ(mailbox.size(), 0U);
}

TEST(Mailbox, the_reader_may_take_out_some_and_keeps_the_order_of_the_rest) {
  Mailbox mailbox{4};
  for (int i = 0; i < 4; ++i) send(mailbox, i);
  Envelope* odd = mailbox.take_if(
      [](const Envelope& envelope) { return static_cast<const Note&>(envelope).value % 2 == 1; });
  ASSERT_NE(odd, nullptr);
  EXPECT_EQ(static_cast<Note*>(odd)->value, 1);
  EXPECT_EQ(static_cast<Note*>(odd->next)->value, 3);
  delete_chain(odd);
  EXPECT_EQ(send(mailbox, 4), PushResult::queued);  // there is room again
  for (const int value : {0, 2, 4}) EXPECT_EQ(take(mailbox), value);
}

TEST(Mailbox, can_drop_the_oldest) {
  Mailbox mailbox{2};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(accepted(mailbox.push_dropping(new Note{i})));
  EXPECT_EQ(trimmed(mailbox), (std::vector{0, 1}));
  EXPECT_EQ(take(mailbox), 2);
  EXPECT_EQ(take(mailbox), 3);
  EXPECT_EQ(mailbox.trim(), nullptr);
}

TEST(Mailbox, does_not_drop_what_may_not_be_lost) {
  Mailbox mailbox{2};
  const auto keep = [&](int value) {
    EXPECT_TRUE(accepted(mailbox.push_over(std::make_unique<Note>(value).release())));
  };
  const auto drop = [&](int value) {
    EXPECT_TRUE(accepted(mailbox.push_dropping(std::make_unique<Note>(value).release())));
  };
  keep(10);
  drop(0);
  drop(1);
  keep(11);
  drop(2);
  drop(3);
  EXPECT_EQ(trimmed(mailbox), (std::vector{0, 1}));
  for (const int value : {10, 11, 2, 3}) EXPECT_EQ(take(mailbox), value);
}

TEST(Mailbox, has_as_much_space_whatever_waits_that_may_not_be_lost) {
  Mailbox mailbox{1};
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(accepted(mailbox.push_over(std::make_unique<Note>(i).release())));
  EXPECT_EQ(mailbox.size(), 0U);
  EXPECT_EQ(send(mailbox, 3), PushResult::queued);
  EXPECT_EQ(send(mailbox, 4), PushResult::full);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(take(mailbox), i);
  EXPECT_EQ(send(mailbox, 5), PushResult::queued);
}

TEST(Mailbox, a_parked_sender_goes_on_when_there_is_space) {
  ManualClock clock;
  ManualExecutor executor{clock};
  Mailbox mailbox{1};
  send(mailbox, 1);
  const auto sender = [&](int value) {
    return Process::spawn(executor, [&, value] { return mailbox.push_parking(new Note{value}); });
  };
  const Future<PushResult> first = sender(2);
  const Future<PushResult> second = sender(3);
  executor.run_all();
  EXPECT_FALSE(first.ready());
  EXPECT_EQ(take(mailbox), 1);
  executor.run_all();
  EXPECT_EQ(first.get(), PushResult::queued);
  EXPECT_FALSE(second.ready());
  EXPECT_EQ(take(mailbox), 2);
  executor.run_all();
  EXPECT_TRUE(second.ready());
  EXPECT_EQ(take(mailbox), 3);
}

TEST(Mailbox, a_parked_sender_gives_up_at_its_deadline_and_when_the_reader_goes) {
  ManualClock clock;
  ManualExecutor executor{clock};
  Mailbox mailbox{1};
  send(mailbox, 1);
  Note late{2};
  Note orphan{3};
  const Future<PushResult> hasty = Process::spawn(
      executor, [&] { return mailbox.push_parking(&late, clock.now() + seconds{1}); });
  const Future<PushResult> patient =
      Process::spawn(executor, [&] { return mailbox.push_parking(&orphan); });
  executor.run_all();
  clock.advance(seconds{1});
  executor.run_all();
  EXPECT_EQ(hasty.get(), PushResult::full);
  delete_chain(mailbox.close());
  executor.run_all();
  EXPECT_EQ(patient.get(), PushResult::closed);
}

/// Reads a mailbox as an actor does: scheduled by wakes, one turn at a time.
class Reader final : public Task {
 public:
  Reader(Executor& executor, int senders, int each, std::uint32_t capacity)
      : mailbox(capacity), executor_(&executor), next_(senders, 0), left_(senders * each) {}
  void schedule() noexcept { executor_->post(static_cast<Task&>(*this)); }
  Mailbox mailbox;
  Promise<bool> done;

 private:
  void run() noexcept override {
    EXPECT_FALSE(running_.exchange(true));
    for (int turn = 0; turn < 32; ++turn) {
      const std::unique_ptr<Envelope> envelope{mailbox.pop()};
      if (!envelope) {
        running_ = false;
        if (mailbox.try_block()) return;
        running_ = true;
        continue;
      }
      const Note& note = static_cast<Note&>(*envelope);
      in_order_ = in_order_ && next_[note.sender]++ == note.value;
      if (--left_ == 0) {
        running_ = false;
        done.set(in_order_);
        return;
      }
    }
    running_ = false;
    schedule();
  }
  Executor* executor_;
  std::vector<int> next_;
  int left_;
  bool in_order_ = true;
  std::atomic<bool> running_{false};
};

TEST(Mailbox, stress_many_senders_keep_their_order_and_wake_the_reader_exactly_when_needed) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  constexpr int senders = 4;
  constexpr int each = 5000;
  Reader reader{pool, senders, each, Mailbox::unbounded};
  {
    std::vector<std::jthread> threads;
    threads.reserve(senders);
    for (int s = 0; s < senders; ++s)
      threads.emplace_back([&, s] {
        for (int i = 0; i < each; ++i)
          if (send(reader.mailbox, i, s) == PushResult::wake) reader.schedule();
      });
  }
  EXPECT_TRUE(reader.done.future().get());
}

TEST(Mailbox, stress_parked_senders_and_a_small_capacity) {
  SystemClock clock;
  ThreadPool pool{clock, {.threads = 2}};
  constexpr int senders = 6;
  constexpr int each = 500;
  Reader reader{pool, senders, each, 3};
  std::vector<Future<void>> ends;
  ends.reserve(senders);
  for (int s = 0; s < senders; ++s)
    ends.push_back(Process::spawn(pool, [&, s] {
      for (int i = 0; i < each; ++i) {
        auto note = std::make_unique<Note>(i, s);
        PushResult result = PushResult::full;
        // Some give up now and then and try again.
        while (result == PushResult::full)
          result = reader.mailbox.push_parking(
              note.get(),
              s % 2 == 0 ? Clock::time_point::max() : clock.now() + std::chrono::microseconds{20});
        static_cast<void>(note.release());
        if (result == PushResult::wake) reader.schedule();
      }
    }));
  EXPECT_TRUE(reader.done.future().get());
  for (const Future<void>& end : ends) end.wait();
  EXPECT_EQ(reader.mailbox.size(), 0U);
}

TEST(Mailbox, stress_closing_loses_and_doubles_nothing) {
  const int before = Note::alive;
  for (int round = 0; round < 200; ++round) {
    Mailbox mailbox{64};
    std::atomic<int> accepted_count{0};
    int taken = 0;
    std::vector<std::jthread> senders;
    senders.reserve(3);
    for (int s = 0; s < 3; ++s)
      senders.emplace_back([&] {
        for (int i = 0; i < 50; ++i) accepted_count += accepted(send(mailbox, i)) ? 1 : 0;
      });
    for (int i = 0; i < 20; ++i) taken += take(mailbox) >= 0 ? 1 : 0;
    Envelope* left = mailbox.close();
    senders.clear();
    for (const Envelope* e = left; e != nullptr; e = e->next) ++taken;
    delete_chain(left);
    EXPECT_EQ(taken, accepted_count);
  }
  EXPECT_EQ(Note::alive, before);
}

}  // namespace
}  // namespace stoker
