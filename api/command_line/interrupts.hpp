// Ctrl-C and SIGTERM as events: a thread waits for them and calls a function.
//
// The first signal calls the function; a second one ends the process at once, as if nobody
// listened.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace stoker::command_line {

class Interrupts {
 public:
  /// Call it before any other thread is started: they inherit that these signals are left to us.
  static void block() noexcept;

  /// Listens until destroyed. Throws std::system_error.
  explicit Interrupts(std::function<void()> on_signal);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// The signal that came, or 0.
  [[nodiscard]] int received() const noexcept { return received_.load(); }

 private:
  void listen();

  std::function<void()> on_signal_;
  std::atomic<int> received_{0};
  int signals_ = -1;  // a signalfd
  int stop_ = -1;     // an eventfd
  std::thread thread_;
};

}  // namespace stoker::command_line
