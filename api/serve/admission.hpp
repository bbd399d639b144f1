// Who may wait: counts the requests and bytes that wait, and refuses what is beyond their limits. Priority levels have
// limits of their own beside.
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
#include <vector>

#include "stoker/runtime/base/error.hpp"

namespace stoker::serve {

class Admission : public std::enable_shared_from_this<Admission> {
 public:
  /// A place among those that wait; destroying it gives the place back.
  class Ticket {
   public:
    Ticket() noexcept = default;
    Ticket(std::shared_ptr<Admission> given_by, std::uint64_t bytes, std::size_t level) noexcept
        : given_by_{std::move(given_by)}, bytes_{bytes}, level_{level} {}
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&& other) noexcept {
      give_back();
      given_by_ = std::move(other.given_by_);
      bytes_ = other.bytes_;
      level_ = other.level_;
      return *this;
    }
    ~Ticket() { give_back(); }
    void give_back() noexcept;

   private:
    std::shared_ptr<Admission> given_by_;
    std::uint64_t bytes_ = 0;
    std::size_t level_ = 0;
  };

  static constexpr std::size_t no_limit = ~std::size_t{0};

  /// `level_limits`: of the requests of each priority level, the first of which is 0.
  Admission(std::size_t max_requests, std::uint64_t max_bytes,
            std::chrono::nanoseconds first_patience,
            std::vector<std::size_t> level_limits = {no_limit})
      : max_requests_{max_requests},
        max_bytes_{max_bytes},
        first_patience_{first_patience},
        level_limits_{std::move(level_limits)},
        levels_(level_limits_.size()) {}

  /// Errors: overloaded (the detail `limit` says which one is reached, `retry_after_ms` when what waits now will be
  /// gone), limit_exceeded (more bytes than may ever wait), or why it was closed.
  [[nodiscard]] Result<Ticket> admit(std::uint64_t bytes, std::size_t level = 0);
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
  /// Beyond the limits of all, not that of their level.
  [[nodiscard]] std::uint64_t refused() const noexcept {
    return refused_.load(std::memory_order_relaxed);
  }
  /// Of one level; refused are those beyond its own limit.
  [[nodiscard]] std::size_t requests(std::size_t level) const noexcept {
    return levels_[level].requests.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t refused(std::size_t level) const noexcept {
    return levels_[level].refused.load(std::memory_order_relaxed);
  }

 private:
  // One word says both how many wait and that nobody may follow: nobody is admitted once close() has returned.
  static constexpr std::size_t closed_bit = ~(~std::size_t{0} >> 1U);

  struct Level {
    std::atomic<std::size_t> requests{0};
    std::atomic<std::uint64_t> refused{0};
  };

  [[nodiscard]] Error overloaded(const char* limit) const;
  /// Whether the level has place, which is then taken.
  [[nodiscard]] bool enter(std::size_t level) noexcept;
  [[nodiscard]] Result<Ticket> admit_in_level(std::uint64_t bytes, std::size_t level);
  void give_back(std::uint64_t bytes, std::size_t level) noexcept;

  const std::size_t max_requests_;
  const std::uint64_t max_bytes_;
  const std::chrono::nanoseconds first_patience_;
  const std::vector<std::size_t> level_limits_;
  std::vector<Level> levels_;
  std::atomic<std::size_t> requests_{0};  ///< with closed_bit
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<double> rate_{0};
  mutable std::mutex mutex_;  // of what follows
  std::optional<Error> why_;
};

}  // namespace stoker::serve
