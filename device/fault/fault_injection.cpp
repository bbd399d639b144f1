#include "stoker/device/fault/fault_injection.hpp"

#include <algorithm>
#include <limits>

#include "stoker/device/fault/fault_plan.hpp"
#include "stoker/device/fault/fault_relay.hpp"

namespace stoker {

Faults::Faults() : plan_{std::make_shared<FaultPlan>()} {}

Faults Faults::on(std::string device) const {
  Faults one = *this;
  one.device_ = std::move(device);
  return one;
}

void Faults::fail_allocation(std::uint64_t nth, std::uint64_t times) const {
  for (std::uint64_t i = 0; i < times; ++i)
    plan_->add({.kind = FaultKind::allocation, .left = nth + i, .device = device_});
}

void Faults::fail_prepare(std::uint64_t nth, std::optional<Error> error) const {
  plan_->add(
      {.kind = FaultKind::prepare, .left = nth, .error = std::move(error), .device = device_});
}

void Faults::fail_record(std::uint64_t nth, std::optional<Error> error) const {
  plan_->add(
      {.kind = FaultKind::record, .left = nth, .error = std::move(error), .device = device_});
}

void Faults::fail_submission(std::uint64_t nth, std::optional<Error> error) const {
  plan_->add(
      {.kind = FaultKind::submission, .left = nth, .error = std::move(error), .device = device_});
}

void Faults::fail_open(std::uint64_t times, std::optional<Error> error) const {
  for (std::uint64_t i = 1; i <= times; ++i)
    plan_->add({.kind = FaultKind::open, .left = i, .error = error, .device = device_});
}

void Faults::fail_kernel(std::string kernel, std::uint64_t nth, std::optional<Error> error) const {
  plan_->add({.kind = FaultKind::kernel,
              .left = nth,
              .error = std::move(error),
              .kernel = std::move(kernel),
              .device = device_});
}

void Faults::lose_at_submission(std::uint64_t nth) const {
  plan_->add({.kind = FaultKind::lose_at, .left = nth, .device = device_});
}

void Faults::lose_during_submission(std::uint64_t nth) const {
  plan_->add({.kind = FaultKind::lose_during, .left = nth, .device = device_});
}

void Faults::lose(std::string reason) const {
  for (const auto& relay : plan_->open_devices(device_))
    relay->lose(injected_loss(relay->device(), reason));
}

void Faults::hang_submission(std::uint64_t nth) const {
  plan_->add({.kind = FaultKind::hang, .left = nth, .device = device_});
}

void Faults::hold_completions() const { plan_->add({.kind = FaultKind::hold, .device = device_}); }

void Faults::release(std::uint64_t count) const {
  for (const auto& relay : plan_->open_devices(device_)) relay->release(count);
}

void Faults::release_all() const {
  plan_->remove(device_, FaultKind::hold);
  release(std::numeric_limits<std::uint64_t>::max());
}

void Faults::delay_completions(Clock::duration time, Clock& clock) const {
  plan_->add({.kind = FaultKind::delay, .delay = time, .clock = &clock, .device = device_});
}

void Faults::clear() const {
  plan_->remove(device_);
  for (const auto& relay : plan_->open_devices(device_)) relay->hurry();
}

FaultCounters Faults::counters() const { return plan_->counters(device_); }

}  // namespace stoker
