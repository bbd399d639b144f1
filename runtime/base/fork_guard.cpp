#include "stoker/runtime/base/fork_guard.hpp"

#include <pthread.h>

#include <string>

namespace stoker {

// Process-wide by nature, as is the handler that counts. Both are there before main().
constinit std::atomic<std::uint32_t> ForkGuard::forks_{0};
const int ForkGuard::handler_ =
    pthread_atfork(nullptr, nullptr, [] { forks_.fetch_add(1, std::memory_order_relaxed); });

Result<void> ForkGuard::check(std::string_view op) const {
  if (!forked()) return {};
  return Error{std::string{op}, ErrorCode::forked_process,
               "this handle was made before fork(); make a new one in the child"};
}

}  // namespace stoker
