// Fault injection: a decorator around any driver, and a handle that plans which faults occur when.
//
//     Faults faults;
//     SystemOptions options;
//     options.drivers = with_faults(faults);        // the built-in drivers, or with_faults(one, faults)
//     faults.on("cpu").lose_at_submission(3);       // the third from now
//
// "The nth" counts from the call that plans the fault, from 1, over the devices that the handle
// speaks of. A fault strikes once; a device that is opened again works. Calls that a lost device
// refuses are not counted.
//
// What the device underneath was handed is real work on real memory, so a loss is told when that
// work has ended: at once if there is none, or if only told completions are missing (held back,
// delayed, hung). A C++ kernel that never returns therefore delays it; to try a device that hangs,
// use hang_submission().
//
// Threads: every function from any thread. Those that let something complete or be lost do so on
// the calling thread, as a device's own thread would. Never call them from a CompletionSink, nor in a
// child of fork(), where a thread of the parent may hold their lock.
// Lifetime: Faults is a shared handle; devices keep the plan, it does not keep them.
// Errors: no function here fails; an `error` that is not given is the usual one of its kind.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/runtime/execution/clock.hpp"

namespace stoker {

/// What the devices were asked for, refused calls included. Sums if the handle is for all devices.
struct FaultCounters {
  std::uint64_t opens = 0;
  std::uint64_t allocations = 0;
  std::uint64_t prepares = 0;
  std::uint64_t recordings = 0;
  std::uint64_t submissions = 0;
  std::uint64_t completions = 0;  ///< told to the device's owner
  std::uint64_t losses = 0;       ///< told to the device's owner
  std::uint64_t injected = 0;     ///< planned faults that have struck, and calls of lose() that did
  std::uint64_t held = 0;         ///< submissions held back, delayed or hung right now
};

class FaultPlan;

class Faults {
 public:
  /// An empty plan, for all devices.
  Faults();
  /// The same plan, speaking of one device ("cpu", "vulkan:0") or of one kind ("vulkan") only.
  [[nodiscard]] Faults on(std::string device) const;

  // Calls that are refused ------------------------------------------------------------------------
  /// The nth allocation and the `times - 1` after it: out_of_memory. A MemoryPool that has cached
  /// memory gives it back and asks once more, which counts.
  void fail_allocation(std::uint64_t nth = 1, std::uint64_t times = 1) const;
  void fail_prepare(std::uint64_t nth = 1, std::optional<Error> error = {}) const;
  void fail_record(std::uint64_t nth = 1, std::optional<Error> error = {}) const;
  /// Nothing of the submission runs.
  void fail_submission(std::uint64_t nth = 1, std::optional<Error> error = {}) const;
  /// The next `times` calls of Driver::open.
  void fail_open(std::uint64_t times = 1, std::optional<Error> error = {}) const;

  // Work that fails -------------------------------------------------------------------------------
  /// The nth step that runs this kernel (empty: any) fails as a C++ kernel that throws does, and
  /// with it the steps of its submission that depend on it.
  void fail_kernel(std::string kernel = {}, std::uint64_t nth = 1,
                   std::optional<Error> error = {}) const;

  // Lost devices ----------------------------------------------------------------------------------
  /// The submission is refused with device_lost.
  void lose_at_submission(std::uint64_t nth = 1) const;
  /// The submission is accepted and never completes; its work has run, but who could know?
  void lose_during_submission(std::uint64_t nth = 1) const;
  /// The devices that are open are lost now.
  void lose(std::string reason = "lost on purpose") const;

  // Slow devices ----------------------------------------------------------------------------------
  /// The submission is accepted, may run, and never completes: it and what waits for it stay until
  /// the device is lost or closed.
  void hang_submission(std::uint64_t nth = 1) const;
  /// From now on submissions run, but their completions wait for release().
  void hold_completions() const;
  /// Lets the `count` oldest submissions that each device holds back complete.
  void release(std::uint64_t count = 1) const;
  /// All of them; and holds nothing any more.
  void release_all() const;
  /// From now on no submission completes before `time` has passed on `clock`, which outlives the
  /// devices. The completions come from the clock's thread: for a ManualClock, inside advance().
  void delay_completions(Clock::duration time, Clock& clock) const;

  /// Forgets what has not struck yet. What is held back or delayed completes; what hangs, hangs.
  void clear() const;
  [[nodiscard]] FaultCounters counters() const;

 private:
  friend std::shared_ptr<Driver> with_faults(std::shared_ptr<Driver> driver, const Faults& faults);

  std::shared_ptr<FaultPlan> plan_;
  std::string device_;  ///< empty: all
};

/// The driver with the plan of `faults` over it. It keeps every promise of Driver and Backend.
[[nodiscard]] std::shared_ptr<Driver> with_faults(std::shared_ptr<Driver> driver,
                                                  const Faults& faults);
/// The same for all built-in drivers: what SystemOptions::drivers takes.
[[nodiscard]] std::vector<std::shared_ptr<Driver>> with_faults(const Faults& faults);

}  // namespace stoker
