#include "stoker/runtime/asio_clock.hpp"

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

namespace stoker {

/// Kept alive by the handlers that are on their way. Asio's timer is touched on the strand only.
class AsioClock::Loop : public std::enable_shared_from_this<Loop> {
 public:
  explicit Loop(boost::asio::any_io_executor executor)
      : strand_(boost::asio::make_strand(std::move(executor))), timer_(strand_) {}

  void look_again() noexcept {
    if (posted_.exchange(true)) return;
    try {
      boost::asio::post(strand_, [self = shared_from_this()] { self->look(); });
    } catch (...) {
      posted_.store(false);
    }
  }
  TimerQueue queue;

 private:
  void look() noexcept {
    posted_.store(false);
    while (queue.expire_one(std::chrono::steady_clock::now())) {
    }
    try {
      const time_point due = queue.next_due();
      timer_.expires_at(due);  // cancels the wait before
      if (due == time_point::max()) return;
      timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->look();
      });
    } catch (...) {
      detail::log_escaped_exception("asio_clock");
    }
  }

  boost::asio::strand<boost::asio::any_io_executor> strand_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock> timer_;
  std::atomic<bool> posted_{false};
};

AsioClock::AsioClock(boost::asio::any_io_executor executor)
    : loop_(std::make_shared<Loop>(std::move(executor))) {}

AsioClock::~AsioClock() { loop_->look_again(); }

void AsioClock::arm(TimerNode& node, time_point due) noexcept {
  if (loop_->queue.arm(node, due)) loop_->look_again();
}

bool AsioClock::disarm(TimerNode& node) noexcept {
  const bool disarmed = loop_->queue.disarm(node);
  // An idle Asio timer would keep the host's run() from returning.
  if (disarmed && loop_->queue.next_due() == time_point::max()) loop_->look_again();
  return disarmed;
}

}  // namespace stoker
