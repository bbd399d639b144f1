// Hands values between threads through moodycamel's queue, bounded by a stated capacity.
//
// Order is kept per producing thread only. Use it where threads trade work; actors use Mailbox, which
// keeps order per sender and is small. Not for recycling: it gives back what has been idle longest,
// and so what is coldest (the memory of commands through it cost a submit half a microsecond more).
//
// Threads: every function may be called from any thread.
#pragma once

#include <concurrentqueue/blockingconcurrentqueue.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace stoker {

template <class T> class Handoff {
 public:
  explicit Handoff(std::size_t capacity) : queue_(capacity), capacity_(capacity) {}

  /// False if `capacity` values are waiting (or memory has run out); `value` is then untouched.
  [[nodiscard]] bool try_push(T&& value) {
    if (size_.fetch_add(1, std::memory_order_relaxed) >= capacity_) return give_back();
    return queue_.enqueue(std::move(value)) || give_back();
  }
  [[nodiscard]] bool try_push(const T& value) { return try_push(T{value}); }

  [[nodiscard]] std::optional<T> try_pop() {
    T value;
    return taken(queue_.try_dequeue(value), value);
  }
  /// Blocks the calling thread (not only a process) for at most `limit`.
  [[nodiscard]] std::optional<T> pop_for(std::chrono::microseconds limit) {
    T value;
    return taken(queue_.wait_dequeue_timed(value, limit.count()), value);
  }
  /// Blocks the calling thread until there is a value.
  [[nodiscard]] T pop() {
    T value;
    queue_.wait_dequeue(value);
    size_.fetch_sub(1, std::memory_order_relaxed);
    return value;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  bool give_back() noexcept {
    size_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  std::optional<T> taken(bool found, T& value) {
    if (!found) return std::nullopt;
    size_.fetch_sub(1, std::memory_order_relaxed);
    return std::optional<T>{std::move(value)};
  }

  moodycamel::BlockingConcurrentQueue<T> queue_;
  std::atomic<std::size_t> size_{0};
  const std::size_t capacity_;
};

}  // namespace stoker
