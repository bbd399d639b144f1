// The memory that the bodies of all connections of a server may have together.
//
// Threads: the budget, any; a share, one at a time. Lifetime: the budget outlives its shares.
#pragma once

#include <atomic>
#include <cstdint>

namespace stoker::serve::http {

class BodyBudget {
 public:
  explicit BodyBudget(std::uint64_t bytes) noexcept : bytes_{bytes} {}

  /// Whether as much is left now. Takes nothing.
  [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept {
    const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    return taken <= bytes_ && bytes <= bytes_ - taken;
  }

  /// What one body has; it is given back at the end.
  class Share {
   public:
    explicit Share(BodyBudget& budget) noexcept : budget_{budget} {}
    ~Share() { release(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    /// False if the budget has not as much; then the share stays as it was.
    [[nodiscard]] bool grow_to(std::uint64_t bytes) noexcept {
      if (bytes <= bytes_) return true;
      const std::uint64_t more = bytes - bytes_;
      if (budget_.taken_.fetch_add(more, std::memory_order_relaxed) + more > budget_.bytes_) {
        budget_.taken_.fetch_sub(more, std::memory_order_relaxed);
        return false;
      }
      bytes_ = bytes;
      return true;
    }
    void release() noexcept {
      budget_.taken_.fetch_sub(bytes_, std::memory_order_relaxed);
      bytes_ = 0;
    }

   private:
    BodyBudget& budget_;
    std::uint64_t bytes_ = 0;
  };

 private:
  const std::uint64_t bytes_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace stoker::serve::http
