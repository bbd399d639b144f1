#include "stoker/actors/device/device_trace.hpp"

namespace stoker {

DeviceTrace::DeviceTrace(std::shared_ptr<TraceRecorder> trace,
                         std::shared_ptr<MetricRegistry> metrics, const std::string& device)
    : trace_{std::move(trace)},
      metrics_{std::move(metrics)},
      compute_{trace_->track("queues", device)},
      transfers_{trace_->track("transfers", device)},
      actors_{trace_->track("actors", device)},
      completed_{metrics_->counter("stoker_commands_completed_total", "commands that ended well",
                                   {{"device", device}})},
      failed_{metrics_->counter("stoker_commands_failed_total",
                                "commands that failed or were cancelled", {{"device", device}})} {}

void DeviceTrace::on_turn(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  trace_->span(actors_, "turn", begin_ns, end_ns);
}

void DeviceTrace::on_settled(const CommandState& command, const Error* failure,
                             StepTiming timing) noexcept {
  (failure ? failed_ : completed_).add();
  if (!trace_->enabled()) return;
  const CommandWork& work = command.work;
  const TrackId track = work.step.kind == StepKind::copy ? transfers_ : compute_;
  if (failure) {
    trace_->instant(track, command.kernel(), TraceRecorder::now_ns(), {{"error", failure->what()}});
    return;
  }
  if (timing.end_ns == 0) return;
  trace_->span(track, command.kernel(), timing.begin_ns, timing.end_ns,
               {{"command", std::to_string(command.id())}});
  if (!work.replay) return;
  const auto steps = command.step_timings();
  for (std::size_t i = 0; i < steps.size() && i < work.replay->steps.size(); ++i)
    if (work.replay->steps[i].executable)
      trace_->span(compute_, work.replay->steps[i].executable->kernel, steps[i].begin_ns,
                   steps[i].end_ns);
}

}  // namespace stoker
