#include "stoker/runtime/fork_guard.hpp"

#include <pthread.h>

#include <atomic>
#include <string>

namespace stoker {
namespace {

// How many forks lie between this process and the one the library was loaded in. Process-wide by
// nature, and the only state here.
std::atomic<std::uint32_t> generation{0};

std::uint32_t current_generation() noexcept {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace

ForkGuard::ForkGuard() noexcept : generation_(current_generation()) {}

bool ForkGuard::forked() const noexcept {
  return generation.load(std::memory_order_relaxed) != generation_;
}

Result<void> ForkGuard::check(std::string_view op) const {
  if (!forked()) return {};
  return Error{std::string{op}, ErrorCode::forked_process,
               "this handle was made before fork(); make a new one in the child"};
}

}  // namespace stoker
