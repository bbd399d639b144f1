// Ctrl-C and SIGTERM as events, and an end that nothing in the process can delay.
//
// A thread waits for the signals. The first one calls a function, so that work can end in good order; a
// second one ends the process at once, whatever it is doing: opening a device, compiling, waiting for a
// kernel, being destroyed. So does a time that was set.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace stoker::command_line {

class Interrupts {
 public:
  /// Make it before any other thread is started, which inherit that the signals are left to it, and
  /// keep it until those have ended. Throws std::system_error.
  Interrupts();
  /// From now on the signals mean what the system means by them.
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// What the first signal calls, on the thread of the signals; at once and here if one has come
  /// before. It must be quick.
  void on_signal(std::function<void()> stop);

  /// The signal that came, or 0.
  [[nodiscard]] int received() const noexcept { return received_.load(); }

  /// How a process ends that cannot end by itself.
  struct End {
    std::chrono::steady_clock::time_point at;
    int code = 0;
    int descriptor = -1;          ///< where the last words go, if there is room for them
    std::string last_words = {};  ///< at most 4096 bytes
  };
  /// Ends the process at that time; nothing: never.
  void end_at(std::optional<End> end);

 private:
  void listen();
  [[nodiscard]] int patience() const;

  mutable std::mutex mutex_;  // of what follows
  std::function<void()> on_signal_;
  std::optional<End> end_;

  std::atomic<int> received_{0};
  std::atomic<bool> leaving_{false};
  int signals_ = -1;  // a signalfd
  int wake_ = -1;     // an eventfd
  std::thread thread_;
};

}  // namespace stoker::command_line
