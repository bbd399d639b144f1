// Who may wait: counts the requests and bytes that wait, and refuses what is beyond their limits.
//
// The caller is refused on its own thread, so a refusal costs no message however busy the batcher is.
//
// Threads: any; nothing waits. Lifetime: tickets keep it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "stoker/runtime/base/error.hpp"

namespace stoker::serve {

class Admission : public std::enable_shared_from_this<Admission> {
 public:
  /// A place among those that wait; destroying it gives the place back.
  class Ticket {
   public:
    Ticket() noexcept = default;
    Ticket(std::shared_ptr<Admission> given_by, std::uint64_t bytes) noexcept
        : given_by_{std::move(given_by)}, bytes_{bytes} {}
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&& other) noexcept {
      give_back();
      given_by_ = std::move(other.given_by_);
      bytes_ = other.bytes_;
      return *this;
    }
    ~Ticket() { give_back(); }
    void give_back() noexcept;

   private:
    std::shared_ptr<Admission> given_by_;
    std::uint64_t bytes_ = 0;
  };

  Admission(std::size_t max_requests, std::uint64_t max_bytes,
            std::chrono::nanoseconds first_patience) noexcept
      : max_requests_{max_requests}, max_bytes_{max_bytes}, first_patience_{first_patience} {}

  /// Errors: overloaded (the detail `retry_after_ms` says when what waits now will be gone), limit_exceeded (more bytes
  /// than may ever wait), or why it was closed.
  [[nodiscard]] Result<Ticket> admit(std::uint64_t bytes);
  /// Admits nobody any more. The first reason stays.
  void close(Error why) noexcept;
  /// Why it was closed, if it was.
  [[nodiscard]] std::optional<Error> closed() const;

  /// How many requests a second leave the queue, for `retry_after_ms`; 0: not known yet.
  void set_rate(double requests_per_second) noexcept {
    rate_.store(requests_per_second, std::memory_order_relaxed);
  }
  /// When the requests that wait now will be gone, from 1 ms to 1 minute.
  [[nodiscard]] std::chrono::milliseconds retry_after() const noexcept;

  /// Those that were refused do not count, not even for an instant.
  [[nodiscard]] std::size_t requests() const noexcept {
    return requests_.load(std::memory_order_relaxed) & ~closed_bit;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t refused() const noexcept {
    return refused_.load(std::memory_order_relaxed);
  }

 private:
  // One word says both how many wait and that nobody may follow: nobody is admitted once close() has returned.
  static constexpr std::size_t closed_bit = ~(~std::size_t{0} >> 1U);

  [[nodiscard]] Error overloaded(const char* limit) const;
  void give_back(std::uint64_t bytes) noexcept;

  const std::size_t max_requests_;
  const std::uint64_t max_bytes_;
  const std::chrono::nanoseconds first_patience_;
  std::atomic<std::size_t> requests_{0};  ///< with closed_bit
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<double> rate_{0};
  mutable std::mutex mutex_;  // of what follows
  std::optional<Error> why_;
};

}  // namespace stoker::serve
