#include "stoker/pipeline/script/run/flights.hpp"

#include <algorithm>
#include <utility>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"

namespace stoker::script {

bool Flight::ended() const noexcept {
  return std::ranges::all_of(parts, [](const Part& part) { return part.command->ready(); });
}

void Flights::add(Flight flight) {
  bytes_ += flight.bytes;
  flights_.push_back(std::move(flight));
}

CommandPtr Flights::oldest() const noexcept {
  for (const Flight::Part& part : flights_.front().parts)
    if (!part.command->ready()) return part.command;
  return {};
}

bool Flights::full(std::size_t bytes) const noexcept {
  return flights_.size() >= most || (flights_.size() >= 2 && bytes_ + bytes > most_bytes);
}

void Flights::settle(Failures& failures) {
  while (!flights_.empty() && flights_.front().ended()) {
    Flight& flight = flights_.front();
    for (Flight::Part& part : flight.parts) {
      part.command->observe();
      if (part.command->result().has_error()) failures.add(part.command->result().error());
      if (observer_ != nullptr) report(part);
    }
    bytes_ -= flight.bytes;
    flights_.pop_front();
  }
}

void Flights::report(Flight::Part& part) const {
  const Result<void>& result = part.command->result();
  const auto tell = [&](ScriptCommand& call) {
    if (result.has_error()) call.failure = result.error();
    observer_->on_command(call);
  };
  if (!part.pipeline) {
    for (ScriptCommand& call : part.calls) tell(call);
    return;
  }
  const std::vector<StepTiming> timings = part.command->step_timings();
  const auto stages = part.pipeline->stages();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ScriptCommand& call = part.calls[stages[i].stage];
    if (timings.size() == stages.size())
      call.duration = std::chrono::nanoseconds{timings[i].end_ns - timings[i].begin_ns};
    tell(call);
  }
}

void Flights::cancel(DeviceClient& device, const Error& why) {
  for (const Flight& flight : flights_)
    for (const Flight::Part& part : flight.parts) {
      part.command->observe();
      device.cancel(part.command, why);
    }
}

}  // namespace stoker::script
