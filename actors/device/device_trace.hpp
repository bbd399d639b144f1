// Writes what a device does into the system's trace and metrics.
#pragma once

#include <memory>
#include <string>

#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/runtime/observe/metrics.hpp"
#include "stoker/runtime/observe/trace.hpp"

namespace stoker {

/// Commands go to the lane of their queue ("queues/<device>", transfers to "transfers/<device>"),
/// failures are marked there; turns of the device's actor to "actors/<device>". Submissions are
/// timed while the trace is enabled.
class DeviceTrace final : public SchedulerObserver {
 public:
  DeviceTrace(std::shared_ptr<TraceRecorder> trace, std::shared_ptr<MetricRegistry> metrics,
              const std::string& device);

  void on_settled(const CommandState& command, const Error* failure,
                  StepTiming timing) noexcept override;
  void on_done_past_the_queue() noexcept override { completed_.add(); }
  void on_turn(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept override;
  [[nodiscard]] bool wants_timing() const noexcept override { return trace_->enabled(); }

 private:
  const std::shared_ptr<TraceRecorder> trace_;
  const std::shared_ptr<MetricRegistry> metrics_;
  const TrackId compute_;
  const TrackId transfers_;
  const TrackId actors_;
  Counter& completed_;
  Counter& failed_;
};

}  // namespace stoker
