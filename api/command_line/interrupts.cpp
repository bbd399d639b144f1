#include "interrupts.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string_view>
#include <system_error>

#include "verbs.hpp"

namespace stoker::command_line {
namespace {

/// Those that we listen to. One that whoever started us had ignored (nohup, a job in the background)
/// stays ignored.
sigset_t signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

int checked(int descriptor) {
  if (descriptor < 0) throw std::system_error{errno, std::generic_category(), "signals"};
  return descriptor;
}

/// Ends the process without a look at what still runs. Whoever does not read what we wrote does not
/// hold us up.
[[noreturn]] void leave(int code, int descriptor, std::string_view last_words) noexcept {
  const auto has_room = [](int where) {
    pollfd event{where, POLLOUT, 0};
    return poll(&event, 1, 0) == 1 && (event.revents & POLLOUT) != 0;
  };
  constexpr std::string_view wipe = "\r\033[K";  // a line of progress
  ssize_t written = 0;
  if (isatty(STDERR_FILENO) == 1 && has_room(STDERR_FILENO))
    written = write(STDERR_FILENO, wipe.data(), wipe.size());
  if (descriptor >= 0 && !last_words.empty() && has_room(descriptor))
    written = write(descriptor, last_words.data(), std::min<std::size_t>(last_words.size(), 4096));
  static_cast<void>(written);  // nowhere left to tell
  // What _exit() does. The thread sanitizer's own flushes the streams first, and waits for who writes to them.
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}

}  // namespace

Interrupts::Interrupts() {
  const sigset_t set = signals();
  signals_ = checked(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  wake_ = checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread{[this] { listen(); }};
}

Interrupts::~Interrupts() {
  leaving_.store(true);
  eventfd_write(wake_, 1);
  thread_.join();
  close(wake_);
  close(signals_);
  const sigset_t set = signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Interrupts::on_signal(std::function<void()> stop) {
  const std::lock_guard lock{mutex_};
  on_signal_ = std::move(stop);
  if (received_.load() != 0) on_signal_();
}

void Interrupts::end_at(std::optional<End> end) {
  {
    const std::lock_guard lock{mutex_};
    end_ = std::move(end);
  }
  eventfd_write(wake_, 1);
}

/// How long to wait for the next event, as poll() wants it. Ends the process if the time has come.
int Interrupts::patience() const {
  const std::lock_guard lock{mutex_};
  if (!end_) return -1;
  const auto left = end_->at - std::chrono::steady_clock::now();
  if (left <= left.zero()) leave(end_->code, end_->descriptor, end_->last_words);
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<std::int64_t>(rounded, std::numeric_limits<int>::max()));
}

void Interrupts::listen() {
  std::array<pollfd, 2> events{pollfd{wake_, POLLIN, 0}, pollfd{signals_, POLLIN, 0}};
  while (!leaving_.load()) {
    if (poll(events.data(), events.size(), patience()) <= 0) continue;
    eventfd_t wakes = 0;
    if (events[0].revents != 0) eventfd_read(wake_, &wakes);
    signalfd_siginfo info;
    if (events[1].revents == 0 || read(signals_, &info, sizeof info) != sizeof info) continue;
    const int signal = static_cast<int>(info.ssi_signo);
    if (received_.load() != 0) leave(interrupted + signal, -1, {});
    const std::lock_guard lock{mutex_};
    received_.store(signal);
    if (!on_signal_) continue;
    // Should it hang, a second signal ends the process as the system does it.
    const sigset_t set = signals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    on_signal_();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }
}

}  // namespace stoker::command_line
