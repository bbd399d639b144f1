// The steady clock with its timers on the host's event loop: no thread of its own. Beside an
// AsioExecutor this lets Stoker live entirely in a host's io_context.
//
// Lifetime: destroy it when no node is armed. An armed node counts as work, so that the host's run()
//           does not return before it has expired. When the execution context has been destroyed
//           nothing expires any more.
// Errors:   without memory to arm Asio's timer a node expires with the next one that can be armed.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "stoker/runtime/execution/clock.hpp"

namespace stoker {

class AsioClock final : public Clock {
 public:
  explicit AsioClock(const boost::asio::any_io_executor& executor);
  ~AsioClock() override;
  [[nodiscard]] time_point now() const noexcept override {
    return std::chrono::steady_clock::now();
  }
  void arm(TimerNode& node, time_point due) noexcept override;
  bool disarm(TimerNode& node) noexcept override;

 private:
  class Loop;
  std::shared_ptr<Loop> loop_;
};

}  // namespace stoker
