// Stacks for processes: mapped memory with a guard page below, kept for reuse up to a bound.
//
// Threads: any thread may take and give back.
#pragma once

#include <cstddef>
#include <mutex>

#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

struct Stack {
  std::byte* base = nullptr;  ///< lowest usable byte; the guard page lies below it
  std::size_t bytes = 0;
  [[nodiscard]] std::byte* top() const noexcept { return base + bytes; }
};

class StackPool {
 public:
  /// Keeps at most `kept` stacks of the default size.
  explicit StackPool(std::size_t kept = 1024) noexcept : limit_(kept) {}
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  /// A stack of at least `bytes`, rounded up to pages. Throws std::bad_alloc.
  [[nodiscard]] Stack take(std::size_t bytes);
  void give_back(Stack stack) noexcept;
  [[nodiscard]] std::size_t kept() const noexcept;

 private:
  struct Free {
    Free* next;
  };
  const std::size_t limit_;
  const ForkGuard fork_;  // in a child a thread of the parent may hold the lock
  mutable std::mutex mutex_;
  Free* free_ = nullptr;  // lies at the top of each stack, in a page that was in use
  std::size_t kept_ = 0;
};

}  // namespace stoker
