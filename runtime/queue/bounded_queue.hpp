// Hands values between threads through moodycamel's queue, bounded by a stated capacity.
//
// Order is kept per producing thread only. For threads that are no actors, such as a driver's, which
// must not wait for a lock; actors use Mailbox, which keeps order per sender and is small. Not for
// recycling: it gives back what has been idle longest, and so what is coldest.
//
// Threads: every function may be called from any thread.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace stoker {

template <class T> class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : queue_(capacity), capacity_(capacity) {}

  /// False if `capacity` values are waiting (or memory has run out); `value` is then untouched.
  [[nodiscard]] bool try_push(T&& value) {
    if (size_.fetch_add(1, std::memory_order_relaxed) >= capacity_) return give_back();
    return queue_.enqueue(std::move(value)) || give_back();
  }
  [[nodiscard]] bool try_push(const T& value) { return try_push(T{value}); }

  /// Finds what was pushed before, in the order of happening.
  [[nodiscard]] std::optional<T> try_pop() {
    if (size() == 0) return std::nullopt;
    T value;
    if (!queue_.try_dequeue(value)) return std::nullopt;
    size_.fetch_sub(1, std::memory_order_relaxed);
    return std::optional<T>{std::move(value)};
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  bool give_back() noexcept {
    size_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }

  moodycamel::ConcurrentQueue<T> queue_;
  std::atomic<std::size_t> size_{0};
  const std::size_t capacity_;
};

}  // namespace stoker
