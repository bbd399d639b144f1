#include "explored_runtime.hpp"

// Before the outer namespace changes its name: what the sources below include of others.
#include <algorithm>
#include <array>
#include <new>

#define stoker stoker_explored  // NOLINT(bugprone-reserved-identifier)
// NOLINTBEGIN(bugprone-suspicious-include): the real sources are what is tested
#include "stoker/runtime/base/error.cpp"
#include "stoker/runtime/execution/parker.cpp"
#include "stoker/runtime/futures/future_core.cpp"
#include "stoker/runtime/queue/mailbox.cpp"
// NOLINTEND(bugprone-suspicious-include)
#undef stoker

namespace stoker::explore {

namespace {

struct Resumption final : stoker_explored::Resumable {
  void resume() noexcept override { event.set(); }
  Event event;
};

}  // namespace

void ExploredContext::block(stoker_explored::Parker& parker,
                            const std::chrono::steady_clock::time_point* deadline) noexcept {
  Resumption resumption;
  parker.bind(resumption);
  if (!parker.commit()) return;
  if (deadline != nullptr && !resumption.event.is_set() && parker.time_out()) return;
  resumption.event.wait();
}

void ExploredClock::arm(stoker_explored::TimerNode& node, time_point) noexcept {
  const std::lock_guard lock{mutex_};
  armed_ = &node;
}

bool ExploredClock::disarm(stoker_explored::TimerNode& node) noexcept {
  const std::lock_guard lock{mutex_};
  return armed_ == &node && (armed_ = nullptr, true);
}

void ExploredClock::tick() noexcept {
  const std::lock_guard lock{mutex_};  // held while it expires: disarm() waits for that
  if (stoker_explored::TimerNode* node = std::exchange(armed_, nullptr)) node->expired();
}

}  // namespace stoker::explore

// What the explored sources need of the rest of the runtime.
namespace stoker_explored {

constinit std::atomic<std::uint32_t> ForkGuard::forks_{0};
void detail::flush_deferred() noexcept {}
void give_exit_time() noexcept {}
void log_failure(LogLevel, std::string_view, const std::exception&) noexcept {}
void note_wait_of_this_thread() noexcept {}

}  // namespace stoker_explored
