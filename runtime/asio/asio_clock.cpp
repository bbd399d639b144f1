#include "stoker/runtime/asio/asio_clock.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <mutex>
#include <optional>

#include "stoker/runtime/asio/asio_end.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

/// Kept alive by the handlers that are on their way. Asio's timer is touched on the strand only.
class AsioClock::Loop final : public AsioEnd, public std::enable_shared_from_this<Loop> {
 public:
  explicit Loop(const boost::asio::any_io_executor& executor)
      : in_context_(std::in_place, executor) {}

  void look_again() noexcept {
    if (fork_guard.forked()) return;
    const std::lock_guard lock{mutex_};
    if (posted_ || !in_context_) return;
    try {
      boost::asio::post(in_context_->strand, [self = shared_from_this()] { self->look(); });
      posted_ = true;
    } catch (...) {  // no memory: when the next node is armed
    }
  }
  void context_ends() noexcept override {
    std::optional<InContext> let_go;
    const std::lock_guard lock{mutex_};
    in_context_.swap(let_go);
  }
  TimerQueue queue;
  const ForkGuard fork_guard;

 private:
  struct InContext {
    explicit InContext(const boost::asio::any_io_executor& executor)
        : strand(boost::asio::make_strand(executor)), timer(strand) {}
    boost::asio::strand<boost::asio::any_io_executor> strand;
    boost::asio::basic_waitable_timer<std::chrono::steady_clock> timer;
  };

  void look() noexcept {
    {
      const std::lock_guard lock{mutex_};
      posted_ = false;
    }
    while (queue.expire_one(std::chrono::steady_clock::now())) {
    }
    try {
      const time_point due = queue.next_due();
      auto& timer = in_context_->timer;  // a handler runs, so the context is there
      timer.expires_at(due);             // cancels the wait before
      if (due == time_point::max()) return;
      timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->look();
      });
    } catch (...) {
      detail::log_escaped_exception("asio_clock");
    }
  }

  std::mutex mutex_;
  std::optional<InContext> in_context_;  // until the context ends
  bool posted_ = false;
};

AsioClock::AsioClock(const boost::asio::any_io_executor& executor)
    : loop_(std::make_shared<Loop>(executor)) {
  watch_end(executor, loop_);
}

AsioClock::~AsioClock() { loop_->look_again(); }

void AsioClock::arm(TimerNode& node, time_point due) noexcept {
  if (loop_->fork_guard.forked()) return;  // a thread of the parent may hold the locks
  if (loop_->queue.arm(node, due)) loop_->look_again();
}

bool AsioClock::disarm(TimerNode& node) noexcept {
  if (loop_->fork_guard.forked()) return true;
  const bool disarmed = loop_->queue.disarm(node);
  // An idle Asio timer would keep the host's run() from returning.
  if (disarmed && loop_->queue.next_due() == time_point::max()) loop_->look_again();
  return disarmed;
}

}  // namespace stoker
