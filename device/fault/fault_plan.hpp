// What shall go wrong, and what has happened: the shared state behind Faults.
//
// Ownership: shared by Faults and the devices opened under it; knows the devices weakly.
// Threads: any. Lock order: a relay may ask the plan while it holds its own lock, never the other
// way round; so what a relay decides and what release_all() undoes cannot miss each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/device/fault/fault_injection.hpp"

namespace stoker {

class FaultRelay;

enum class FaultKind : std::uint8_t {
  allocation,
  prepare,
  record,
  submission,
  open,
  kernel,
  lose_at,
  lose_during,
  hang,
  hold,  // these two stay until they are removed
  delay,
};

/// One planned fault.
struct FaultRule {
  FaultKind kind = FaultKind::allocation;
  std::uint64_t left = 1;  ///< it strikes when this many events of its kind have been counted
  std::optional<Error> error = {};
  std::string kernel = {};
  Clock::duration delay{};
  Clock* clock = nullptr;
  std::string device = {};
};

class FaultPlan {
 public:
  void add(FaultRule rule);
  /// Counts one event for each rule of that kind; the rule that strikes now, if one does.
  [[nodiscard]] std::optional<FaultRule> strike(FaultKind kind, std::string_view device,
                                                std::string_view kernel = {});
  /// The newest rule of a kind that stays.
  [[nodiscard]] std::optional<FaultRule> standing(FaultKind kind, std::string_view device) const;
  /// The steps of one submission that fail now: those that a rule strikes, and their dependents.
  [[nodiscard]] std::vector<StepFailure> fail_steps(std::string_view device,
                                                    std::span<const Step> steps);
  /// Removes what was planned for these devices: rules of one kind, or all.
  void remove(std::string_view devices, std::optional<FaultKind> kind = {});

  void count(std::string_view device, std::uint64_t FaultCounters::*what);
  [[nodiscard]] FaultCounters counters(std::string_view devices) const;

  void opened(const std::shared_ptr<FaultRelay>& relay);
  /// The open devices of that name or kind (empty: all).
  [[nodiscard]] std::vector<std::shared_ptr<FaultRelay>> open_devices(
      std::string_view devices) const;

 private:
  [[nodiscard]] FaultCounters& counted(std::string_view device);

  mutable std::mutex mutex_;
  std::vector<FaultRule> rules_;
  std::map<std::string, FaultCounters, std::less<>> counters_;
  std::vector<std::weak_ptr<FaultRelay>> relays_;
};

/// The loss that Faults causes.
[[nodiscard]] Error injected_loss(std::string_view device, std::string reason);

}  // namespace stoker
