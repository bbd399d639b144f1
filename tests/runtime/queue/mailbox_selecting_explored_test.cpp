// Every schedule of a reader that picks its envelopes and leaves the others: selective receive.
#include <gtest/gtest.h>

#include "mailbox_scenario.hpp"

namespace stoker::explore {
namespace {

/// The reader wants what sender 1 sends; what sender 0 sends stays.
struct Selecting : Inbox<Mailbox> {
  explicit Selecting(std::uint32_t capacity = Mailbox::unbounded) : Inbox{capacity} {}

  void pick() {
    const auto wanted = [](const Envelope& one) {
      return static_cast<const Note&>(one).sender == 1;
    };
    do {
      turn();
      while (const auto envelope = std::unique_ptr<Envelope>{mailbox.take_first(wanted)}) {
        look_at(*envelope);
        ++delivered;
      }
    } while (!mailbox.try_block_keeping());
  }
  void send_to_picker(int from) {
    auto note = std::make_unique<Note>(from, sent[from], false);
    const PushResult result = mailbox.push(note.get());
    if (!accepted(result)) return void(++refused[from]);
    static_cast<void>(note.release());
    ++sent[from];
    if (result == PushResult::wake) pick();
  }
  void left() { send_to_picker(0), send_to_picker(0); }
  void wanted() { send_to_picker(1); }

  void end() {
    check(delivered == sent[1], "what was wanted was not taken");
    check(mailbox.claim(), "the reader is neither idle nor running");
    check(mailbox.size() == static_cast<std::uint32_t>(sent[0]), "the count is wrong");
    while (const auto envelope = std::unique_ptr<Envelope>{mailbox.pop()}) look_at(*envelope);
    check(next[0] == sent[0], "what was left is lost");
  }
};

TEST(MailboxSelectingExplored, takes_all_that_is_wanted_and_keeps_the_rest_in_order) {
  expect_holds(explore<Selecting>({&Selecting::left, &Selecting::wanted}), 1000);
}

TEST(MailboxSelectingExplored, the_explorer_would_see_an_order_that_is_too_weak) {
  const auto run = [](const Options& options) {
    return explore<Selecting>({&Selecting::left, &Selecting::wanted}, options);
  };
  expect_found(run, {.without = {.acquire = true}});
  expect_found(run, {.without = {.release = true}});
}

struct SelectingFromFew : Selecting {
  SelectingFromFew() : Selecting{1} {}
  void end() {
    check(delivered == sent[1] && sent[0] + refused[0] == 2, "a sender heard nothing");
    check(mailbox.claim(), "the reader is neither idle nor running");
    check(mailbox.size() <= 1, "there are more than fit");
  }
};

TEST(MailboxSelectingExplored, counts_what_it_keeps_against_the_capacity) {
  expect_holds(explore<SelectingFromFew>({&SelectingFromFew::left, &SelectingFromFew::wanted}), 50);
}

}  // namespace
}  // namespace stoker::explore
