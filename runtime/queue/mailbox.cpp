#include "stoker/runtime/queue/mailbox.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "stoker/runtime/execution/parker.hpp"

namespace stoker {

/// Senders waiting for space, first come first served.
struct Mailbox::SpaceList {
  void insert(SpaceWaiter& waiter) noexcept {
    waiter.previous_ = last;
    waiter.next_ = nullptr;
    (last ? last->next_ : first) = &waiter;
    last = &waiter;
    waiter.listed_ = true;
    waiting.fetch_add(1);
  }
  void unlink(SpaceWaiter& waiter) noexcept {
    (waiter.previous_ ? waiter.previous_->next_ : first) = waiter.next_;
    (waiter.next_ ? waiter.next_->previous_ : last) = waiter.previous_;
    waiter.listed_ = false;
    waiting.fetch_sub(1);
  }
  /// Wakes up to `count` senders. They are told under the lock: space() is tiny, and a waiter that
  /// was removed in time must not hear of it any more.
  void wake(std::uint32_t count) noexcept {
    const std::lock_guard lock{mutex};
    for (; first != nullptr && count > 0; --count) {
      SpaceWaiter& waiter = *first;
      unlink(waiter);
      waiter.space();
    }
  }

  std::mutex mutex;
  SpaceWaiter* first = nullptr;
  SpaceWaiter* last = nullptr;
  std::atomic<std::uint32_t> waiting{0};
};

namespace {

class ParkedSender final : public SpaceWaiter {
 public:
  void space() noexcept override { parker_.unpark(); }
  [[nodiscard]] Parker& parker() noexcept { return parker_; }

 private:
  Parker parker_;
};

}  // namespace

void delete_chain(Envelope* first) noexcept {
  while (first != nullptr) {
    const std::unique_ptr<Envelope> envelope{first};
    first = envelope->next;
  }
}

Mailbox::~Mailbox() {
  delete_chain(close());
  const std::unique_ptr<SpaceList> list{space_.load()};
}

PushResult Mailbox::link(Envelope* envelope) noexcept {
  Envelope* newest = inbox_.load(std::memory_order_relaxed);
  do {
    // Acquire: whoever is told `closed` sees what the closer wrote before.
    if (newest == closed_mark() && closed()) return PushResult::closed;
    envelope->next = newest == idle_mark() ? nullptr : newest;
    // Acquire: the sender that wakes a reader hands on what the last reader left behind.
  } while (!inbox_.compare_exchange_weak(newest, envelope, std::memory_order_acq_rel,
                                         std::memory_order_relaxed));
  return newest == idle_mark() ? PushResult::wake : PushResult::queued;
}

bool Mailbox::claim() noexcept {
  Envelope* idle = idle_mark();
  return inbox_.compare_exchange_strong(idle, nullptr, std::memory_order_acq_rel,
                                        std::memory_order_relaxed);
}

PushResult Mailbox::push(Envelope* envelope) noexcept { return push_below(capacity_, envelope); }

PushResult Mailbox::push_dropping(Envelope* envelope) noexcept {
  return push_below(capacity_ > unbounded / 2 ? unbounded : 2 * capacity_, envelope);
}

PushResult Mailbox::push_below(std::uint32_t limit, Envelope* envelope) noexcept {
  if (!envelope->takes_space()) return link(envelope);
  // Counted first, and exactly: a sender must not see the mailbox full because of another sender's
  // attempt, or it would wait for space that is there.
  std::uint32_t count = count_.load(std::memory_order_relaxed);
  do {
    if (count >= limit) return closed() ? PushResult::closed : PushResult::full;
  } while (!count_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed));
  const PushResult result = link(envelope);
  if (result == PushResult::closed) count_.fetch_sub(1, std::memory_order_relaxed);
  return result;
}

PushResult Mailbox::push_over(Envelope* envelope) noexcept {
  envelope->kept = true;
  return link(envelope);
}

PushResult Mailbox::push_parking(Envelope* envelope,
                                 std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const PushResult result = push(envelope);
    if (result != PushResult::full) return result;
    ParkedSender sender;
    const Interruptible wait{sender.parker()};
    if (!wait.allowed()) return PushResult::full;
    add_space_waiter(sender);
    static_cast<void>(sender.parker().park_until(deadline));
    // Whoever is told of space is told under the list's lock, so that is over.
    if (remove_space_waiter(sender)) return PushResult::full;
  }
}

void Mailbox::add_space_waiter(SpaceWaiter& waiter) {
  SpaceList* list = space_.load();
  if (list == nullptr) {
    auto made = std::make_unique<SpaceList>();
    if (space_.compare_exchange_strong(list, made.get())) list = made.release();
  }
  {
    const std::lock_guard lock{list->mutex};
    list->insert(waiter);
  }
  // The reader counts down and then looks for waiters; this looks at the count after it is listed.
  // One of the two sees the other (sequentially consistent operations on both sides).
  if ((count_.load() < capacity_ || closed()) && remove_space_waiter(waiter)) waiter.space();
}

bool Mailbox::remove_space_waiter(SpaceWaiter& waiter) noexcept {
  SpaceList* list = space_.load();
  if (list == nullptr) return false;
  const std::lock_guard lock{list->mutex};
  if (!waiter.listed_) return false;
  list->unlink(waiter);
  return true;
}

void Mailbox::left(std::uint32_t envelopes) noexcept {
  if (envelopes == 0) return;
  const std::uint32_t count = count_.fetch_sub(envelopes) - envelopes;
  SpaceList* list = space_.load();
  if (list != nullptr && list->waiting.load() != 0 && count < capacity_)
    list->wake(capacity_ - count);
}

void Mailbox::settle_popped() noexcept {
  const std::uint32_t popped = popped_.load(std::memory_order_relaxed);
  if (popped == 0) return;
  popped_.store(0, std::memory_order_relaxed);
  left(popped);
}

void Mailbox::wake_all_waiters() noexcept {
  SpaceList* list = space_.load();
  if (list != nullptr && list->waiting.load() != 0) list->wake(unbounded);
}

void Mailbox::append(Queue& queue, Envelope* envelope) noexcept {
  envelope->next = nullptr;
  (queue.tail ? queue.tail->next : queue.head) = envelope;
  queue.tail = envelope;
}

Envelope* Mailbox::take_head(Queue& queue) noexcept {
  Envelope* envelope = queue.head;
  queue.head = envelope->next;
  if (queue.head == nullptr) queue.tail = nullptr;
  envelope->next = nullptr;
  return envelope;
}

Envelope* Mailbox::take_after(Envelope* previous) noexcept {
  Envelope* envelope = previous ? previous->next : normal_.head;
  (previous ? previous->next : normal_.head) = envelope->next;
  if (normal_.tail == envelope) normal_.tail = previous;
  if (shown_ == envelope) shown_ = previous;
  envelope->next = nullptr;
  return envelope;
}

// Turns the stack round and appends each envelope to its queue.
void Mailbox::sort_in(Envelope* newest) noexcept {
  // In one pass, because a long inbox is cold: each queue grows at its head, and goes behind what was
  // there before.
  Queue normal;
  Queue system;
  while (newest != nullptr) {
    Queue& queue = newest->system ? system : normal;
    Envelope* following = std::exchange(newest->next, queue.head);
    if (queue.tail == nullptr) queue.tail = newest;
    queue.head = newest;
    newest = following;
  }
  const auto append_all = [](Queue& queue, const Queue& fresh) {
    if (fresh.head == nullptr) return;
    (queue.tail ? queue.tail->next : queue.head) = fresh.head;
    queue.tail = fresh.tail;
  };
  append_all(system_, system);
  append_all(normal_, normal);
}

void Mailbox::drain() noexcept {
  const Envelope* newest = inbox_.load(std::memory_order_acquire);
  if (newest == nullptr || newest == idle_mark() || newest == closed_mark()) return;
  // Only the reader takes envelopes out, so the inbox still holds some.
  sort_in(inbox_.exchange(nullptr, std::memory_order_acquire));
}

Envelope* Mailbox::pop() noexcept {
  drain();
  if (system_.head != nullptr) return take_head(system_);
  if (normal_.head == nullptr) {
    settle_popped();
    return nullptr;
  }
  Envelope* envelope = take_after(nullptr);
  if (!envelope->takes_space()) return envelope;
  const std::uint32_t popped = popped_.load(std::memory_order_relaxed) + 1;
  popped_.store(popped, std::memory_order_relaxed);
  if (popped == batch_) settle_popped();
  return envelope;
}

void Mailbox::append(Envelope* envelope) noexcept {
  drain();
  envelope->kept = true;
  append(normal_, envelope);
}

Envelope* Mailbox::pop_system() noexcept {
  drain();
  return system_.head != nullptr ? take_head(system_) : nullptr;
}

bool Mailbox::has_unseen() noexcept {
  drain();
  return (shown_ ? shown_->next : normal_.head) != nullptr;
}

bool Mailbox::try_block() noexcept {
  return system_.head == nullptr && normal_.head == nullptr && go_idle();
}

bool Mailbox::try_block_keeping() noexcept { return system_.head == nullptr && go_idle(); }

bool Mailbox::go_idle() noexcept {
  settle_popped();
  // A sender that was told of space may have given up since, and no later pop would tell the next
  // one. Before going idle, because afterwards another thread may read, and destroy, this mailbox.
  if (size() < capacity_) wake_all_waiters();
  Envelope* expected = nullptr;
  return inbox_.compare_exchange_strong(expected, idle_mark(), std::memory_order_release,
                                        std::memory_order_relaxed) ||
         expected == idle_mark();
}

Envelope* Mailbox::trim() noexcept {
  drain();
  if (count_.load(std::memory_order_relaxed) > capacity_) settle_popped();
  Queue surplus;
  std::uint32_t dropped = 0;
  const std::uint32_t count = size();
  const std::uint32_t beyond = count > capacity_ ? count - capacity_ : 0;
  Envelope* staying = nullptr;  // the last one passed by
  for (Envelope* next = normal_.head; next != nullptr && dropped < beyond;
       next = staying ? staying->next : normal_.head) {
    if (next->takes_space()) {
      append(surplus, take_after(staying));
      ++dropped;
    } else {
      staying = next;
    }
  }
  left(dropped);
  return surplus.head;
}

Envelope* Mailbox::close() noexcept {
  Envelope* newest = inbox_.exchange(closed_mark(), std::memory_order_seq_cst);
  if (newest != idle_mark() && newest != closed_mark()) sort_in(newest);
  settle_popped();
  shown_ = nullptr;
  std::uint32_t normal = 0;
  for (const Envelope* envelope = normal_.head; envelope != nullptr; envelope = envelope->next)
    normal += envelope->takes_space() ? 1 : 0;
  count_.fetch_sub(normal);
  wake_all_waiters();
  if (system_.tail == nullptr) return std::exchange(normal_, Queue{}).head;
  system_.tail->next = std::exchange(normal_, Queue{}).head;
  return std::exchange(system_, Queue{}).head;
}

bool Mailbox::closed() const noexcept { return inbox_.load() == closed_mark(); }

}  // namespace stoker
