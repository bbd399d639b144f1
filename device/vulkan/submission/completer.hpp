// Sees submissions complete and reports them, in the order of each queue.
//
// One thread per device watches the queues' timelines: it spins briefly, because most work is over
// within microseconds, then blocks in the driver, for the next submission if there is nothing in
// flight: so a submission need not wake it. Only after a long idle time does it sleep until told.
// A thread that waits for a point spins, too, and reports what it finds complete, which saves the
// hop; beyond that it leaves the watching to the one thread.
//
//     watching ──all idle for 100 ms──▶ asleep ──notify()──▶ watching ──lost or stop()──▶ ended
//
// Loss: the first VK_ERROR_DEVICE_LOST, from whatever call, ends everything. If the device does not
// admit soon that its work is over, it may be hung and still touch memory: then it is abandoned.
//
// Threads: any. Lifetime: shared by the backend and by the thread, with the queues and the device they
// work on: the sink may end the backend from inside a report, and then the thread is the last to leave.
// The sink outlives stop().
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "stoker/device/vulkan/instance/device_clock.hpp"
#include "stoker/device/vulkan/submission/queue.hpp"

namespace stoker::device::vulkan {

using Queues = std::vector<std::unique_ptr<Queue>>;

class Completer final : public std::enable_shared_from_this<Completer> {
 public:
  struct Options {
    /// How long the thread, and one that waits, spin before they block; 0 where the "device" needs
    /// the cores.
    std::chrono::nanoseconds spin{0};
    std::chrono::nanoseconds wait_spin{0};
    std::chrono::nanoseconds submit_target{0};  ///< kernels that take longer are reported; 0: none
    /// The "device" is threads of this process, which use what exit() destroys: leave() waits for them.
    bool software = false;
  };
  Completer(std::shared_ptr<DeviceHandle> device, Queues queues, CompletionSink& sink,
            Options options);
  Completer(const Completer&) = delete;
  Completer& operator=(const Completer&) = delete;

  /// Starts the thread. out_of_memory or internal if the system gives none.
  [[nodiscard]] Result<void> start();
  /// Ends the thread; what is in flight is no longer reported. On the thread itself, inside a report:
  /// from the moment that returns, neither sink nor driver is called, until the device is destroyed.
  void stop() noexcept;
  /// Waits until all that was launched is done, and reported unless this is the thread itself.
  [[nodiscard]] bool drain(std::chrono::steady_clock::time_point deadline) noexcept;
  /// The process exits: nothing more is submitted, reported or asked of the driver. Ends the thread,
  /// for which it waits a limited time, as for what a software device has in flight. Any thread.
  void leave() noexcept;
  [[nodiscard]] const Queues& queues() const noexcept { return queues_; }

  /// Held from before a launch() until it is over; empty once the device is being lost. So the loss
  /// knows all work that was handed over, and can ask whether it is done with the host's memory.
  [[nodiscard]] std::unique_lock<std::mutex> open_gate() noexcept;
  /// After each launch().
  void notify() noexcept;
  /// Reports what is complete on `queue`; true if its timeline has advanced since the last look.
  bool retire(Queue& queue) noexcept;
  /// Waits for a value of a queue; when true, its completion has been reported.
  [[nodiscard]] bool wait(Queue& queue, std::uint64_t value,
                          std::chrono::steady_clock::time_point deadline) noexcept;

  /// The device is lost because of `cause`: tells the sink once. Any later call does nothing.
  void lose(const Error& cause) noexcept;
  [[nodiscard]] bool lost() const noexcept { return lost_.load(); }
  /// What the sink was told.
  [[nodiscard]] Error loss() const;

 private:
  /// The thread, from beginning to end.
  static void live(std::shared_ptr<Completer> self) noexcept;
  void run() noexcept;
  [[nodiscard]] bool on_own_thread() const noexcept {
    return own_thread_.load() == std::this_thread::get_id();
  }
  /// Makes the thread end soon, unless the device is lost.
  void ask_to_end() noexcept;
  void tell_waiters() noexcept;
  /// Spins until the value is reported or the time is up.
  void look(Queue& queue, std::uint64_t value, std::chrono::steady_clock::time_point end) noexcept;
  void block() noexcept;
  void sleep() noexcept;
  /// Watches for news for the length of the spin; true if there is some.
  [[nodiscard]] bool spin() noexcept;
  void report(Queue& queue, Flight& flight) noexcept;
  [[nodiscard]] std::vector<StepTiming> read_timings(const Queue& queue, const Flight& flight);
  void on_failure(std::string_view function, VkResult result) noexcept;
  void settle_memory() noexcept;

  const std::shared_ptr<DeviceHandle> device_;
  const Queues queues_;
  CompletionSink& sink_;
  const Options options_;
  DeviceClock clock_;

  std::atomic<std::uint32_t> in_flight_{0};
  std::atomic<bool> sleeping_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> losing_{false};
  std::atomic<bool> lost_{false};
  std::mutex gate_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable settled_;
  std::atomic<std::uint32_t> waiters_{0};
  std::optional<Error> loss_;
  std::atomic<bool> left_{false};
  std::atomic<bool> ended_{true};  ///< no thread of this runs
  std::atomic<std::thread::id> own_thread_{};
  std::thread thread_;
};

}  // namespace stoker::device::vulkan
