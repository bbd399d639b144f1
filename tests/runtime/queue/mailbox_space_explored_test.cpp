// As mailbox_explored_test.cpp, of mailboxes with a capacity: who waits for space, hears that the
// reader has gone, or drops the oldest.
#include <gtest/gtest.h>

#include "mailbox_scenario.hpp"

namespace stoker::explore {
namespace {

/// The reader is at work and its mailbox, of one place, is full.
struct Full : Inbox<Mailbox> {
  Full() : Inbox(1) { static_cast<void>(mailbox.claim()), send(2); }
  void first() { send_parking(0); }
  void second() { send_parking(1); }
  void hasty() { send_until(1); }
  void send_until(int from) {
    send_with(from, [&](Envelope* e) { return mailbox.push_parking(e, ExploredClock::later); });
  }
  void reader() { read(); }
  void closer() {
    pop_one();
    close();
  }
  void close() {
    turn();
    std::unique_ptr<Envelope> left{mailbox.close()};
    check(left == nullptr || left->next == nullptr, "there are more than fit");
    while (left != nullptr) {
      look_at(*left);
      ++delivered;
      left.reset(left->next);
    }
  }
  void end() {
    if (!mailbox.closed()) return expect_quiet();
    check(delivered == all_sent(), "an envelope is lost or comes twice");
    check(mailbox.size() == 0, "the count is wrong");
    Note late{0, 0, true};
    check(mailbox.push(&late) == PushResult::closed, "it is open again");
  }
};
/// Its reader takes out one envelope, and does not go idle before all have ended.
struct Busy : Full {
  void reader() { pop_one(); }
  void end() {
    read();
    expect_quiet();
  }
};
Report one_parks(const Options& options = {}) {
  return explore<Busy>({&Busy::first, &Busy::reader}, options);
}

TEST(MailboxSpaceExplored, a_parked_sender_hears_of_space_from_a_busy_reader) {
  expect_holds(one_parks(), 20);
}

TEST(MailboxSpaceExplored, a_parked_sender_hears_of_space_from_a_reader_that_goes_idle) {
  expect_holds(explore<Full>({&Full::first, &Full::reader}), 100);
}

TEST(MailboxSpaceExplored, the_explorer_would_see_a_parked_sender_that_nobody_tells) {
  expect_found(one_parks, {.without = {.seq_cst = true}});
}

TEST(MailboxSpaceExplored,
     two_parked_senders_both_hear_of_space_and_no_more_than_one_place_is_taken) {
  expect_holds(explore<Full>({&Full::first, &Full::second, &Full::reader}, {.bound = 2}), 1000);
}

TEST(MailboxSpaceExplored, a_sender_that_gives_up_leaves_the_space_to_another) {
  expect_holds(explore<Full>({&Full::first, &Full::hasty, &Full::reader}, {.bound = 2}), 1000);
}

/// Waits for space, first in the list, and then does not want it any more.
struct Fickle final : stoker_explored::SpaceWaiter {
  void space() noexcept override { told.set(); }  // fails if it is told twice
  Event told;
};
struct AfterFickle : Full {
  Fickle fickle;
  AfterFickle() { mailbox.add_space_waiter(fickle); }
  void end() {
    check(fickle.told.is_set(), "it was not told");
    Full::end();
  }
};

TEST(MailboxSpaceExplored,
     a_waiter_that_wants_no_space_any_more_does_not_keep_it_from_a_parked_sender) {
  expect_holds(explore<AfterFickle>({&AfterFickle::first, &AfterFickle::reader}), 50);
}

TEST(MailboxSpaceExplored, closing_tells_a_parked_sender_and_loses_nothing) {
  expect_holds(explore<Full>({&Full::first, &Full::closer}), 100);
}

struct Closing : Full {
  void sender() { send(0), send(0); }
};

TEST(MailboxSpaceExplored, a_push_that_meets_a_close_is_either_refused_or_handed_out) {
  expect_holds(explore<Closing>({&Closing::sender, &Closing::closer}), 50);
  expect_holds(
      explore<Closing>({&Closing::sender, &Closing::second, &Closing::closer}, {.bound = 3}), 1000);
}

/// Says why before it closes, as a strand does.
struct ClosingForAReason : Full {
  Plain<int> why{0};
  void sender() {
    send(0, true);
    if (refused[0] != 0) check(why.get() == 1, "it does not hear why");
  }
  void closer() {
    pop_one();
    why = 1;
    close();
  }
};

TEST(MailboxSpaceExplored, who_is_told_that_it_is_closed_sees_what_its_closer_wrote_before) {
  expect_holds(explore<ClosingForAReason>({&ClosingForAReason::sender, &ClosingForAReason::closer}),
               5);
}

struct Dropping : Inbox<Mailbox> {
  Dropping() : Inbox(2, false) {}
  void over(int from) {
    auto note = std::make_unique<Note>(from, sent[from]++, false);
    const PushResult result = mailbox.push_dropping(note.get());
    check(accepted(result), "it refuses");
    static_cast<void>(note.release());
    if (result == PushResult::wake) read_trimmed();
  }
  void read_trimmed() {
    do {
      do {
        turn();
        for (std::unique_ptr<Envelope> oldest{mailbox.trim()}; oldest; oldest.reset(oldest->next)) {
          look_at(*oldest);
          ++dropped;
        }
      } while (pop_one());
      turn();
    } while (!mailbox.try_block());
  }
  void first() { over(0), over(0); }
  void second() { over(1); }
  void end() { expect_quiet(); }
};

TEST(MailboxSpaceExplored, trimming_drops_the_oldest_while_others_push) {
  expect_holds(explore<Dropping>({&Dropping::first, &Dropping::second}, {.bound = 4}), 100);
}

}  // namespace
}  // namespace stoker::explore
