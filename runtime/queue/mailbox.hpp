// The mailbox of an actor: many senders, one reader, first in first out per sender, bounded, and
// small while idle. Intrusive and lock-free: senders push on an atomic stack, the reader takes the
// whole stack and turns it round.
//
// System envelopes (exits, links, timers) overtake normal ones and are never refused for lack of
// space, so an actor with a full mailbox can still be stopped. Kept envelopes (down messages,
// continuations, a stop) keep their place among the normal ones, but take no space and are neither
// refused nor dropped.
//
// Ownership: an envelope accepted by push() belongs to the mailbox until pop() or close() hands it
//            out; one that was refused still belongs to the sender. The destructor deletes the
//            rest.
// Threads:   push, add_space_waiter and remove_space_waiter from any thread; pop, try_block, trim
//            and close from the reader only (one thread at a time, handed over with the schedule).
// Scheduling: a new mailbox is idle. The push that finds it idle returns `wake`, and its caller
//            must schedule the reader, which pops until null and then calls try_block().
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace stoker {

struct Envelope {
  Envelope() noexcept = default;
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;
  virtual ~Envelope() = default;

  Envelope* next = nullptr;
  bool system = false;
  bool kept = false;  ///< set by push_over() and append()

  /// Whether it counts towards the capacity.
  [[nodiscard]] bool takes_space() const noexcept { return !system && !kept; }
};

enum class PushResult : std::uint8_t {
  queued,  ///< accepted; the reader is awake
  wake,    ///< accepted; the reader was idle and the caller must schedule it
  full,    ///< refused: `capacity` envelopes are waiting
  closed,  ///< refused: the reader has gone
};
[[nodiscard]] constexpr bool accepted(PushResult result) noexcept {
  return result <= PushResult::wake;
}

/// The rule for a normal envelope if the mailbox is full.
enum class OverflowRule : std::uint8_t {
  park,         ///< the sender waits for space: push_parking()
  reject,       ///< push() returns `full` to the sender
  drop_oldest,  ///< it is accepted, and the reader discards the oldest: push_dropping(), trim()
};

/// Notified once that there may be space (or that the mailbox has closed). Must live until then, or
/// until removed. Push again afterwards, and wait again if another sender was faster.
class SpaceWaiter {
 public:
  virtual void space() noexcept = 0;  // any thread; must be tiny

 protected:
  ~SpaceWaiter() = default;

 private:
  friend class Mailbox;
  SpaceWaiter* previous_ = nullptr;
  SpaceWaiter* next_ = nullptr;
  bool listed_ = false;
};

class Mailbox {
 public:
  static constexpr std::uint32_t unbounded = ~std::uint32_t{0};

  /// After a mailbox was full, senders are admitted again when several messages have left it: up to
  /// an eighth of the capacity, at most 64.
  explicit Mailbox(std::uint32_t capacity = unbounded) noexcept
      : capacity_(capacity), batch_(std::clamp(capacity / 8, 1U, 64U)) {}
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Any thread:
  [[nodiscard]] PushResult push(Envelope* envelope) noexcept;
  /// Claims an idle reader without sending anything. True: the caller must continue as after
  /// `wake`.
  [[nodiscard]] bool claim() noexcept;
  /// Accepts an envelope regardless of the capacity, as a kept one.
  [[nodiscard]] PushResult push_over(Envelope* envelope) noexcept;
  /// Accepts beyond the capacity, for drop_oldest: the reader calls trim() before it pops. While it
  /// does not pop, nobody can drop: at twice the capacity the mailbox is full.
  [[nodiscard]] PushResult push_dropping(Envelope* envelope) noexcept;
  /// Parks the current context while the mailbox is full. `full` means that the deadline passed, or
  /// that the context must stop waiting (BlockingContext::interruptible).
  [[nodiscard]] PushResult push_parking(Envelope* envelope,
                                        std::chrono::steady_clock::time_point deadline =
                                            std::chrono::steady_clock::time_point::max());
  /// Envelopes that take space, including those the reader has taken in but not popped.
  [[nodiscard]] std::uint32_t size() const noexcept {
    const std::uint32_t popped = popped_.load(std::memory_order_relaxed);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    return count > popped ? count - popped : 0;
  }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  /// The first waiter allocates a small list; throws std::bad_alloc.
  void add_space_waiter(SpaceWaiter& waiter);
  /// True: space() will not be called. False: it was called or is about to be.
  bool remove_space_waiter(SpaceWaiter& waiter) noexcept;

  // The reader:
  /// The next envelope, system ones first, or null.
  [[nodiscard]] Envelope* pop() noexcept;
  /// Queues a normal envelope behind all others, regardless of the capacity, as a kept one.
  void append(Envelope* envelope) noexcept;
  /// Removes the normal envelopes that `wanted` accepts, as a chain.
  template <class Wanted> [[nodiscard]] Envelope* take_if(Wanted&& wanted);
  /// Goes idle. False if an envelope arrived since the last pop(): continue popping.
  [[nodiscard]] bool try_block() noexcept;

  // A selective reader uses these instead of pop() and try_block():
  /// The next system envelope, or null.
  [[nodiscard]] Envelope* pop_system() noexcept;
  /// Takes out the first normal envelope that `wanted` picks. Each is shown once, until rescan();
  /// null: all have been shown.
  template <class Wanted> [[nodiscard]] Envelope* take_first(Wanted&& wanted);
  /// Lets take_first() see all waiting envelopes again.
  void rescan() noexcept { shown_ = nullptr; }
  /// Whether a system envelope waits.
  [[nodiscard]] bool has_system() noexcept {
    drain();
    return system_.head != nullptr;
  }
  /// Whether take_first() would see an envelope.
  [[nodiscard]] bool has_unseen() noexcept;
  /// Shows all waiting envelopes, system ones first, without removing them.
  template <class F> void for_each(F&& show) {
    drain();
    for (const Envelope* one = system_.head; one != nullptr; one = one->next) show(*one);
    for (const Envelope* one = normal_.head; one != nullptr; one = one->next) show(*one);
  }
  /// Goes idle, keeping envelopes that were shown and not taken. False if a new one arrived.
  [[nodiscard]] bool try_block_keeping() noexcept;

  /// Hands out the oldest envelopes beyond the capacity as a chain, for drop_oldest: the caller
  /// answers their senders (if a `call` is among them) and deletes them. Kept ones stay.
  [[nodiscard]] Envelope* trim() noexcept;
  /// Refuses everything from now on and hands out what is left as a chain, system ones first.
  [[nodiscard]] Envelope* close() noexcept;
  [[nodiscard]] bool closed() const noexcept;

 private:
  struct Queue {
    Envelope* head = nullptr;
    Envelope* tail = nullptr;
  };
  struct SpaceList;
  static void append(Queue& queue, Envelope* envelope) noexcept;
  static Envelope* take_head(Queue& queue) noexcept;
  /// Takes a normal envelope out of its queue; null: the first.
  Envelope* take_after(Envelope* previous) noexcept;
  [[nodiscard]] bool go_idle() noexcept;
  PushResult push_below(std::uint32_t limit, Envelope* envelope) noexcept;
  PushResult link(Envelope* envelope) noexcept;
  void drain() noexcept;
  void sort_in(Envelope* newest) noexcept;
  void left(std::uint32_t envelopes) noexcept;
  void settle_popped() noexcept;
  void wake_all_waiters() noexcept;

  // The newest envelope, null, or one of two marks.
  std::atomic<Envelope*> inbox_{idle_mark()};
  Queue system_;
  Queue normal_;
  Envelope* shown_ = nullptr;  // the last normal one that take_first() has passed by
  std::atomic<SpaceList*> space_{nullptr};
  std::atomic<std::uint32_t> count_{0};
  const std::uint32_t capacity_;
  const std::uint32_t batch_;
  // Popped by the reader but not subtracted from count_ yet, because senders contend for that.
  std::atomic<std::uint32_t> popped_{0};

  // NOLINTBEGIN(performance-no-int-to-ptr): marks, never read through
  static Envelope* idle_mark() noexcept { return reinterpret_cast<Envelope*>(std::uintptr_t{1}); }
  static Envelope* closed_mark() noexcept { return reinterpret_cast<Envelope*>(std::uintptr_t{2}); }
  // NOLINTEND(performance-no-int-to-ptr)
};
static_assert(sizeof(Mailbox) <= 72);

template <class Wanted> Envelope* Mailbox::take_if(Wanted&& wanted) {
  drain();
  Queue kept;
  Queue taken;
  std::uint32_t count = 0;
  while (normal_.head != nullptr) {
    Envelope* envelope = take_after(nullptr);
    const bool picked = wanted(*envelope);
    append(picked ? taken : kept, envelope);
    if (picked && envelope->takes_space()) ++count;
  }
  normal_ = kept;
  left(count);
  return taken.head;
}

template <class Wanted> Envelope* Mailbox::take_first(Wanted&& wanted) {
  drain();
  for (Envelope* next = shown_ ? shown_->next : normal_.head; next != nullptr; next = next->next) {
    if (wanted(*next)) {
      Envelope* picked = take_after(shown_);
      left(picked->takes_space() ? 1 : 0);
      return picked;
    }
    shown_ = next;
  }
  return nullptr;
}

/// Deletes a chain handed out by close() or trim().
void delete_chain(Envelope* first) noexcept;

}  // namespace stoker
