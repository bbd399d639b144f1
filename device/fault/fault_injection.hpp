// Fault injection: a decorator around any driver, and a handle that plans which faults occur when.
//
//     Faults faults;
//     SystemOptions options;
//     options.drivers = with_faults(faults);        // the built-in drivers, or with_faults(one, faults)
//     faults.on("cpu").lose_at_submission(3);       // the third from now
//
// "The nth" is counted from the call that plans the fault, starting at 1, over the devices of the
// handle. A fault occurs once; a device that is opened again works. Calls that a lost device
// refuses are not counted.
//
// The underlying device does real work on real memory, so a loss is reported only when that work
// has ended: at once if there is none, or if only its completions have not been reported (held
// back, delayed, hung). A C++ kernel that never returns therefore delays it; to try a device that
// hangs, use hang_submission().
//
// Threads: every function from any thread. Functions that complete work or lose a device do so on the
// calling thread, in place of a device's own thread. Never call them from a CompletionSink, nor in a
// child of fork(), where a thread of the parent may hold their lock. Lifetime: Faults is a shared
// handle. Devices keep the plan alive; the plan does not keep devices alive. Errors: no function here
// fails. If no `error` is given, the usual error of that kind is used.
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

/// Counts of the calls to the devices, including refused ones. Sums if the handle is for all
/// devices.
struct FaultCounters {
  std::uint64_t opens = 0;
  std::uint64_t allocations = 0;
  std::uint64_t prepares = 0;
  std::uint64_t recordings = 0;
  std::uint64_t submissions = 0;
  std::uint64_t completions = 0;  ///< told to the device's owner
  std::uint64_t losses = 0;       ///< told to the device's owner
  /// Planned faults that have occurred, and calls of lose() that had an effect.
  std::uint64_t injected = 0;
  std::uint64_t held = 0;  ///< submissions held back, delayed or hung right now
};

class FaultPlan;

class Faults {
 public:
  /// An empty plan, for all devices.
  Faults();
  /// The same plan, restricted to one device ("cpu", "vulkan:0") or one kind ("vulkan").
  [[nodiscard]] Faults on(std::string device) const;

  // Calls that are refused ------------------------------------------------------------------------
  /// The nth allocation and the `times - 1` after it: out_of_memory. A memory pool that has cached
  /// memory frees it and tries once more; this counts as another allocation.
  void fail_allocation(std::uint64_t nth = 1, std::uint64_t times = 1) const;
  void fail_prepare(std::uint64_t nth = 1, std::optional<Error> error = {}) const;
  void fail_record(std::uint64_t nth = 1, std::optional<Error> error = {}) const;
  /// Nothing of the submission runs.
  void fail_submission(std::uint64_t nth = 1, std::optional<Error> error = {}) const;
  /// The next `times` calls of Driver::open.
  void fail_open(std::uint64_t times = 1, std::optional<Error> error = {}) const;

  // Work that fails -------------------------------------------------------------------------------
  /// The nth step that runs this kernel (empty: any) fails like a C++ kernel that throws; the steps
  /// of its submission that depend on it fail, too.
  void fail_kernel(std::string kernel = {}, std::uint64_t nth = 1,
                   std::optional<Error> error = {}) const;

  // Lost devices ----------------------------------------------------------------------------------
  /// The submission is refused with device_lost.
  void lose_at_submission(std::uint64_t nth = 1) const;
  /// The submission is accepted and its work runs, but it never completes, and the device is lost.
  void lose_during_submission(std::uint64_t nth = 1) const;
  /// Loses the open devices now.
  void lose(std::string reason = "lost on purpose") const;

  // Slow devices ----------------------------------------------------------------------------------
  /// The submission is accepted and may run, but never completes. Neither do later submissions of its queue, because
  /// a queue completes in order, nor work of another queue that waits for one of them. All of them stay until
  /// the device is lost or closed.
  void hang_submission(std::uint64_t nth = 1) const;
  /// From now on submissions run, but their completions wait for release().
  void hold_completions() const;
  /// Completes the `count` oldest submissions that each device holds back.
  void release(std::uint64_t count = 1) const;
  /// Completes all of them, and ends hold_completions().
  void release_all() const;
  /// From now on no submission completes before `time` has passed on `clock`, which must outlive
  /// the devices. Completions are reported on the clock's thread; with a ManualClock inside
  /// advance().
  void delay_completions(Clock::duration time, Clock& clock) const;

  /// Removes faults that have not occurred yet. Submissions that are held back or delayed complete;
  /// those that hang continue to hang.
  void clear() const;
  [[nodiscard]] FaultCounters counters() const;

 private:
  friend std::shared_ptr<Driver> with_faults(std::shared_ptr<Driver> driver, const Faults& faults);

  std::shared_ptr<FaultPlan> plan_;
  std::string device_;  ///< empty: all
};

/// Wraps the driver with the plan of `faults`. The result keeps every promise of Driver and
/// Backend.
[[nodiscard]] std::shared_ptr<Driver> with_faults(std::shared_ptr<Driver> driver,
                                                  const Faults& faults);
/// The same for all built-in drivers, for SystemOptions::drivers.
[[nodiscard]] std::vector<std::shared_ptr<Driver>> with_faults(const Faults& faults);

}  // namespace stoker
