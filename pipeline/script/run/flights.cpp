#include "stoker/pipeline/script/run/flights.hpp"

#include <utility>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"

namespace stoker::script {

void Flights::add(Flight flight) {
  bytes_ += flight.bytes;
  flights_.push_back(std::move(flight));
}

bool Flights::full(std::size_t bytes) const noexcept {
  return flights_.size() >= most || (flights_.size() >= 2 && bytes_ + bytes > most_bytes);
}

void Flights::settle(Failures& failures) {
  while (!flights_.empty() && flights_.front().command->ready()) {
    Flight& flight = flights_.front();
    flight.command->observe();
    if (flight.command->result().has_error()) failures.add(flight.command->result().error());
    if (observer_ != nullptr) report(flight);
    bytes_ -= flight.bytes;
    flights_.pop_front();
  }
}

void Flights::report(Flight& flight) const {
  const Result<void>& result = flight.command->result();
  const std::vector<StepTiming> timings = flight.command->step_timings();
  const auto stages = flight.pipeline->stages();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    ScriptCommand& call = flight.calls[stages[i].stage];
    if (timings.size() == stages.size())
      call.duration = std::chrono::nanoseconds{timings[i].end_ns - timings[i].begin_ns};
    if (result.has_error()) call.failure = result.error();
    observer_->on_command(call);
  }
}

void Flights::cancel(DeviceClient& device, const Error& why) {
  for (const Flight& flight : flights_) {
    flight.command->observe();
    device.cancel(flight.command, why);
  }
}

}  // namespace stoker::script
