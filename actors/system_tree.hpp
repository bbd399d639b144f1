// The supervision tree of a system:
//
//     system (one_for_one)
//       ├─ device cpu (one_for_one, with back-off)  ─ cpu
//       ├─ device vulkan:0                          ─ vulkan:0
//       └─ whatever the program adds
//
// Each device has a supervisor of its own, so that one that is lost again and again gives up alone. It
// is made when there is something to supervise.
//
// Threads: any. Lifetime: stop() ends it; so does letting go of it.
#pragma once

#include <memory>
#include <mutex>

#include "stoker/actors/device_slot.hpp"
#include "stoker/actors/supervisor.hpp"

namespace stoker {

class SystemTree {
 public:
  explicit SystemTree(std::shared_ptr<Executor> executor) : executor_{std::move(executor)} {}
  ~SystemTree();
  SystemTree(const SystemTree&) = delete;
  SystemTree& operator=(const SystemTree&) = delete;

  /// Lost devices are opened again at once, then after 10 ms, 20 ms, … up to 5 s; more than 10 times
  /// within a minute and the device stays lost.
  void add(const std::shared_ptr<DeviceSlot>& device);
  /// The supervisor at the top. Throws closed once stopped.
  [[nodiscard]] Supervisor root();
  /// Null if nothing was ever supervised, or stopped.
  [[nodiscard]] Supervisor peek() const;
  /// Asks it to end, children first; does not wait.
  void stop() noexcept;
  /// In a child of the process it was made in: touches nothing of it any more.
  void forsake() noexcept;

 private:
  const std::shared_ptr<Executor> executor_;
  mutable std::mutex mutex_;
  Supervisor root_;
  bool stopped_ = false;
};

}  // namespace stoker
