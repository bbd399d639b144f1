// Notices that the process was forked: threads, device handles and locks of the parent do not work
// in the child, so handles that depend on them refuse instead of hanging.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "stoker/runtime/base/error.hpp"

namespace stoker {

class ForkGuard {
 public:
  /// Remembers the process it is made in.
  ForkGuard() noexcept : generation_{generation()} {}
  /// Whether this process is a child of that one.
  [[nodiscard]] bool forked() const noexcept { return generation() != generation_; }
  /// Error{op, forked_process} in a child.
  [[nodiscard]] Result<void> check(std::string_view op) const;
  /// The number of forks between this process and the one that loaded the library. One relaxed
  /// load; a pthread_atfork handler counts the forks.
  [[nodiscard]] static std::uint32_t generation() noexcept {
    return forks_.load(std::memory_order_relaxed);
  }

 private:
  static std::atomic<std::uint32_t> forks_;
  static const int handler_;  ///< of pthread_atfork
  std::uint32_t generation_;
};

}  // namespace stoker
