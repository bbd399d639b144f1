// Every schedule of small scenarios of the real mailbox.cpp; explorer.hpp says what that proves.
#include <gtest/gtest.h>

#include "mailbox_scenario.hpp"

namespace stoker::explore {
namespace {

struct TwoSenders : Inbox<Mailbox> {
  void first() { send(0), send(0); }
  void second() { send(1); }
  void end() { expect_quiet(); }
};
Report two_senders(const Options& options = {}) {
  return explore<TwoSenders>({&TwoSenders::first, &TwoSenders::second}, options);
}

TEST(MailboxExplored, two_senders_lose_nothing_keep_their_order_and_wake_one_reader) {
  expect_holds(two_senders(), 10'000);
}

TEST(MailboxExplored, the_explorer_would_see_an_order_that_is_too_weak) {
  expect_found(two_senders, {.without = {.acquire = true}});
  expect_found(two_senders, {.without = {.release = true}});
}

struct ThreeSenders : Inbox<Mailbox> {
  void first() { send(0); }
  void second() { send(1); }
  void third() { send(2); }
  void end() { expect_quiet(); }
};

TEST(MailboxExplored, three_senders_lose_nothing_and_wake_one_reader) {
  expect_holds(
      explore<ThreeSenders>({&ThreeSenders::first, &ThreeSenders::second, &ThreeSenders::third},
                            {.bound = 3}),
      1000);
}

/// A mailbox of one place whose reader goes idle in two steps; a sender may come between them.
class Careless {
 public:
  explicit Careless(std::uint32_t) {}
  ~Careless() { stoker_explored::delete_chain(place_.load()); }
  Careless(const Careless&) = delete;
  Careless& operator=(const Careless&) = delete;
  PushResult push(Envelope* envelope) {
    place_.store(envelope);
    return idle_.exchange(false) ? PushResult::wake : PushResult::queued;
  }
  Envelope* pop() { return place_.exchange(nullptr); }
  bool try_block() {
    if (place_.load() != nullptr) return false;
    idle_.store(true);
    return true;
  }
  bool claim() { return idle_.exchange(false); }
  static std::uint32_t capacity() { return Mailbox::unbounded; }
  static std::uint32_t size() { return 0; }

 private:
  Atomic<Envelope*> place_{nullptr};
  Atomic<bool> idle_{true};
};

template <class Box> struct GoingIdle : Inbox<Box> {
  GoingIdle() { static_cast<void>(this->mailbox.claim()); }
  void reader() { this->read(); }
  void sender() { this->send(0); }
  void end() { this->expect_quiet(); }
};
template <class Box> Report going_idle(const Options& options = {}) {
  return explore<GoingIdle<Box>>({&GoingIdle<Box>::reader, &GoingIdle<Box>::sender}, options);
}

TEST(MailboxExplored, a_reader_that_goes_idle_misses_no_sender) {
  expect_holds(going_idle<Mailbox>(), 4);
}

TEST(MailboxExplored, the_explorer_would_see_a_reader_that_goes_idle_in_two_steps) {
  expect_found(going_idle<Careless>);
}

struct Claiming : Inbox<Mailbox> {
  void claimer() {
    if (mailbox.claim()) read();
  }
  void sender() { send(0); }
  void end() { expect_quiet(); }
};

TEST(MailboxExplored, a_claim_and_a_push_make_one_reader) {
  expect_holds(explore<Claiming>({&Claiming::claimer, &Claiming::claimer, &Claiming::sender}), 200);
}

struct Overtaking : Inbox<Mailbox> {
  Atomic<bool> exit_sent{false};
  bool exit_came = false;
  Overtaking() { static_cast<void>(mailbox.claim()), send(1), send(1); }
  void sender() {
    send(0, true);
    exit_sent.store(true);
    send(0, true);
  }
  void reader() {
    for (int i = 0; i < 2; ++i) {
      const bool must_come = exit_sent.load() && delivered_of(0) == 0;
      pop_one();
      check(!must_come || delivered_of(0) == 1, "a normal envelope comes before a system one");
    }
    read();
  }
  [[nodiscard]] int delivered_of(int sender) const { return next[sender]; }
  void end() { expect_quiet(); }
};

TEST(MailboxExplored, a_system_envelope_that_was_sent_comes_before_normal_ones) {
  expect_holds(explore<Overtaking>({&Overtaking::sender, &Overtaking::reader}), 50);
}

}  // namespace
}  // namespace stoker::explore
