// Takes Vulkan out of use when the process exits, before the driver cleans up after itself.
//
// exit() runs its handlers newest first. The driver installs its own when it is loaded, and behind
// them its threads, locks and memory are gone: a thread that waits inside the driver then crashes
// (NVIDIA 580 does), and so does a destructor of a static object that still calls it. So whoever
// holds a part of Vulkan watches for the exit from the moment the driver is loaded, and lets go.
//
// Threads: any.
#pragma once

#include <functional>

#include "stoker/runtime/error.hpp"

namespace stoker::device::vulkan {

class ExitWatch {
 public:
  /// `leave` is called at most once, by the thread that exits, while Vulkan still works. It must not
  /// wait without a limit: what it waits for may wait for this watch to be destroyed. Throws
  /// std::bad_alloc.
  explicit ExitWatch(std::function<void()> leave);
  /// `leave` does not run any more.
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

 private:
  friend struct ExitWatches;
  const std::function<void()> leave_;
  bool left_ = false;
};

/// While it exists, exit() waits before the driver cleans up, for a second at most. For whoever calls
/// the driver on a thread that nobody may have joined by then: systems end on their own threads.
class ExitDelay {
 public:
  ExitDelay();
  ~ExitDelay();
  ExitDelay(const ExitDelay&) = delete;
  ExitDelay& operator=(const ExitDelay&) = delete;
  /// The exit came first and waits for nobody: the driver must not be called any more.
  [[nodiscard]] bool too_late() const noexcept { return too_late_; }

 private:
  bool too_late_ = false;
};

/// What is asked of a driver once the exit has begun fails with this (`closed`).
[[nodiscard]] Error process_exits(std::string_view op);

}  // namespace stoker::device::vulkan
