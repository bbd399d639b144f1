// The supervision tree of a system:
//
//     system (one_for_one)
//       ├─ device cpu (one_for_one, with back-off)  ─ cpu
//       ├─ device vulkan:0                          ─ vulkan:0
//       └─ program (one_for_one)                    ─ whatever the program adds
//
// Each device has its own supervisor, so a device that is lost again and again fails alone. The program has its own,
// too. The tree is created with the first thing to supervise.
//
// Threads: any. Lifetime: stop() or the destructor ends it.
#pragma once

#include <memory>
#include <mutex>

#include "stoker/actors/device/device_restarts.hpp"
#include "stoker/actors/device/supervised_device.hpp"
#include "stoker/actors/supervisor/supervisor.hpp"

namespace stoker {

class SystemTree {
 public:
  explicit SystemTree(std::shared_ptr<Executor> executor) : executor_{std::move(executor)} {}
  ~SystemTree();
  SystemTree(const SystemTree&) = delete;
  SystemTree& operator=(const SystemTree&) = delete;

  /// Puts an open device under its own supervisor.
  void add(const std::shared_ptr<SupervisedDevice>& device, const DeviceRestarts& restarts);
  /// The program's own supervisor: 10 restarts within a minute. Throws closed once stopped, and
  /// forked_process in a child of the process it was made in.
  [[nodiscard]] Supervisor program();
  /// The supervisor at the top. Empty if nothing was supervised yet, or after stop().
  [[nodiscard]] Supervisor peek() const;
  /// Asks the program's part to end, children first. Ready when it has ended, or at once if there is none. Throws
  /// std::bad_alloc, and may be called again then.
  [[nodiscard]] Future<ExitReason> stop_program();
  /// Asks the whole tree to end. Ready when it has ended, or at once if there is none. Throws as stop_program().
  [[nodiscard]] Future<ExitReason> stop();
  /// For a forked child: forgets the tree without touching it.
  void forsake() noexcept;

 private:
  [[nodiscard]] Supervisor root_locked();

  const std::shared_ptr<Executor> executor_;
  const ForkGuard fork_;
  mutable std::mutex mutex_;
  Supervisor root_;
  Supervisor program_;
  bool stopped_ = false;
};

}  // namespace stoker
