// What the scenarios of the explored mailbox have in common: an actor's inbox, its envelopes, and what
// must hold of them.
#pragma once

#include <array>
#include <memory>

#include "stoker/tests/runtime/explorer/explored_runtime.hpp"
#include "stoker/tests/runtime/explorer/explorer_expect.hpp"

namespace stoker::explore {

using stoker_explored::accepted;
using stoker_explored::Envelope;
using stoker_explored::Mailbox;
using stoker_explored::PushResult;

constexpr int most_senders = 3;

struct Note final : Envelope {
  Note(int from, int value, bool is_system) : sender(from), number(value) { system = is_system; }
  const int sender;
  /// Stands for all of the envelope, `next` included: written before it is sent, and read, and
  /// ended with the envelope, by the one who gets it.
  Plain<int> number;
};

/// An actor's mailbox and what its reader knows. Whoever is told `wake` reads at once: nothing but
/// the mailbox hands the reader's state from one thread to the next.
template <class Box> struct Inbox {
  ExploredContext context;
  Box mailbox;
  Plain<int> turns{0};  // stands for all that only the reader touches, the queues included
  std::array<int, most_senders> next{};
  int delivered = 0;
  int dropped = 0;
  std::array<int, most_senders> sent{};
  std::array<int, most_senders> refused{};
  const bool bounded;

  explicit Inbox(std::uint32_t capacity = Mailbox::unbounded, bool exactly = true)
      : mailbox(capacity), bounded(exactly && capacity != Mailbox::unbounded) {}

  void turn() { turns = turns.get() + 1; }
  void look_at(const Envelope& envelope) {
    const auto& note = static_cast<const Note&>(envelope);
    check(note.number.get() == next[note.sender]++, "a sender's envelopes change places");
  }
  bool pop_one() {
    turn();
    if (bounded) check(mailbox.size() <= mailbox.capacity(), "there are more than fit");
    const std::unique_ptr<Envelope> envelope{mailbox.pop()};
    if (envelope == nullptr) return false;
    look_at(*envelope);
    ++delivered;
    return true;
  }
  void read() {
    do {
      while (pop_one()) {
      }
      turn();
    } while (!mailbox.try_block());
  }
  template <class Push> void send_with(int from, Push push, bool system = false) {
    auto note = std::make_unique<Note>(from, sent[from], system);
    const PushResult result = push(note.get());
    if (!accepted(result)) return void(++refused[from]);
    static_cast<void>(note.release());
    ++sent[from];
    if (result == PushResult::wake) read();
  }
  void send(int from, bool system = false) {
    send_with(
        from, [&](Envelope* e) { return mailbox.push(e); }, system);
  }
  void send_parking(int from) {
    send_with(from, [&](Envelope* e) { return mailbox.push_parking(e); });
  }
  [[nodiscard]] int all_sent() const { return sent[0] + sent[1] + sent[2]; }
  /// Everything that was accepted has come out, and the reader has gone idle, once.
  void expect_quiet() {
    check(delivered + dropped == all_sent(), "an envelope is lost or comes twice");
    check(mailbox.size() == 0, "the count is wrong");
    check(mailbox.claim(), "the reader is neither idle nor running");
  }
};

}  // namespace stoker::explore
