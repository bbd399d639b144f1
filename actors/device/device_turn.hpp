// The end of each turn of a device's strand: what has completed is settled, and what arrived becomes the next
// submission. DeviceActor's handlers only note what is to be done; this does it, once for all messages of the
// turn.
//
// Ownership: scheduler, client and strand refer to each other, and a turn's last message may end them all, so
//            this holds none of them.
// Threads:   the strand's turns, one at a time.
#pragma once

#include <memory>

#include "stoker/actors/strand.hpp"
#include "stoker/device/commands/command_scheduler.hpp"

namespace stoker {

class DeviceClient;

class DeviceTurn {
 public:
  /// `strand` is the one whose turns these are, and outlives this.
  DeviceTurn(const std::shared_ptr<CommandScheduler>& scheduler,
             const std::shared_ptr<DeviceClient>& client,
             std::shared_ptr<SchedulerObserver> observer, const Strand& strand)
      : scheduler_{scheduler}, client_{client}, observer_{std::move(observer)}, strand_{&strand} {}

  /// Nothing once the scheduler has gone.
  void operator()();

 private:
  void run(CommandScheduler& scheduler) const;
  /// A lost device is its actor's crash: the actor hears of it behind what came before.
  void tell_if_lost(const CommandScheduler& scheduler);

  std::weak_ptr<CommandScheduler> scheduler_;
  std::weak_ptr<DeviceClient> client_;
  std::shared_ptr<SchedulerObserver> observer_;
  const Strand* strand_;
  bool told_ = false;  // that the device is lost
};

}  // namespace stoker
