// Notices that the process was forked: threads, device handles and locks of the parent do not work
// in the child, so handles that depend on them refuse instead of hanging.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/runtime/error.hpp"

namespace stoker {

class ForkGuard {
 public:
  /// Remembers the process it is made in.
  ForkGuard() noexcept;
  /// Whether this process is a child of that one. One relaxed load: the count of forks is kept by
  /// a pthread_atfork handler.
  [[nodiscard]] bool forked() const noexcept;
  /// Error{op, forked_process} in a child.
  [[nodiscard]] Result<void> check(std::string_view op) const;

 private:
  std::uint32_t generation_;
};

}  // namespace stoker
