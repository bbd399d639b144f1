#include "stoker/device/fault/fault_plan.hpp"

#include <algorithm>

#include "stoker/device/commands/step_reads.hpp"
#include "stoker/device/fault/fault_relay.hpp"

namespace stoker {
namespace {

/// "vulkan" names every device of its kind, "vulkan:0" one, nothing all.
bool speaks_of(std::string_view devices, std::string_view device) {
  if (devices.empty() || devices == device) return true;
  return device.starts_with(devices) && device[devices.size()] == ':';
}

Error failed_kernel(std::string_view kernel, std::string_view device) {
  return Error{std::string{kernel},
               ErrorCode::handler_failed,
               "the kernel failed",
               {{"device", std::string{device}}, {"cause", "injected fault"}}};
}

}  // namespace

void FaultPlan::add(FaultRule rule) {
  const std::scoped_lock lock{mutex_};
  rules_.push_back(std::move(rule));
}

std::optional<FaultRule> FaultPlan::strike(FaultKind kind, std::string_view device,
                                           std::string_view kernel) {
  const std::scoped_lock lock{mutex_};
  std::optional<FaultRule> struck;
  for (auto rule = rules_.begin(); rule != rules_.end();) {
    const bool counts = rule->kind == kind && speaks_of(rule->device, device) &&
                        (rule->kernel.empty() || rule->kernel == kernel);
    if (!counts || rule->left > 1) {
      rule->left -= counts ? 1 : 0;
      ++rule;
      continue;
    }
    // Two plans for the same event: the older one is what happens.
    if (!struck) struck = std::move(*rule);
    rule = rules_.erase(rule);
  }
  if (struck) ++counted(device).injected;
  return struck;
}

std::optional<FaultRule> FaultPlan::standing(FaultKind kind, std::string_view device) const {
  const std::scoped_lock lock{mutex_};
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if (rule->kind == kind && speaks_of(rule->device, device)) return *rule;
  return std::nullopt;
}

std::vector<StepFailure> FaultPlan::fail_steps(std::string_view device,
                                               std::span<const Step> steps) {
  std::vector<StepFailure> failures;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const auto cause = std::ranges::find_if(failures, [&](const StepFailure& failed) {
      return std::ranges::find(step.after, failed.step) != step.after.end() &&
             reads_output_of(step, steps[failed.step]);
    });
    if (cause != failures.end()) {  // it would never have run
      failures.push_back({i, cause->error});
      continue;
    }
    if (step.kind != StepKind::dispatch || !step.executable) continue;
    const std::string& kernel = step.executable->kernel;
    if (const auto rule = strike(FaultKind::kernel, device, kernel))
      failures.push_back({i, rule->error.value_or(failed_kernel(kernel, device))});
  }
  return failures;
}

void FaultPlan::remove(std::string_view devices, std::optional<FaultKind> kind) {
  const std::scoped_lock lock{mutex_};
  std::erase_if(rules_, [&](const FaultRule& rule) {
    return speaks_of(devices, rule.device) && (!kind || rule.kind == *kind);
  });
}

void FaultPlan::count(std::string_view device, std::uint64_t FaultCounters::*what) {
  const std::scoped_lock lock{mutex_};
  ++(counted(device).*what);
}

FaultCounters& FaultPlan::counted(std::string_view device) {
  // Found always but for the open() that comes first: completions are counted under noexcept.
  const auto known = counters_.find(device);
  return known != counters_.end() ? known->second : counters_[std::string{device}];
}

FaultCounters FaultPlan::counters(std::string_view devices) const {
  FaultCounters sum;
  for (const auto& relay : open_devices(devices)) sum.held += relay->held();
  const std::scoped_lock lock{mutex_};
  for (const auto& [device, counted] : counters_) {
    if (!speaks_of(devices, device)) continue;
    for (const auto what :
         {&FaultCounters::opens, &FaultCounters::allocations, &FaultCounters::prepares,
          &FaultCounters::recordings, &FaultCounters::submissions, &FaultCounters::completions,
          &FaultCounters::losses, &FaultCounters::injected})
      sum.*what += counted.*what;
  }
  return sum;
}

void FaultPlan::opened(const std::shared_ptr<FaultRelay>& relay) {
  const std::scoped_lock lock{mutex_};
  std::erase_if(relays_, [](const auto& one) { return one.expired(); });
  relays_.push_back(relay);
}

std::vector<std::shared_ptr<FaultRelay>> FaultPlan::open_devices(std::string_view devices) const {
  std::vector<std::shared_ptr<FaultRelay>> open;
  const std::scoped_lock lock{mutex_};
  for (const auto& one : relays_)
    if (auto relay = one.lock(); relay && speaks_of(devices, relay->device()))
      open.push_back(std::move(relay));
  return open;
}

Error injected_loss(std::string_view device, std::string reason) {
  return Error{"device",
               ErrorCode::device_lost,
               std::move(reason),
               {{"device", std::string{device}}, {"cause", "injected fault"}}};
}

}  // namespace stoker
