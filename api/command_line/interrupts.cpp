#include "interrupts.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace stoker::command_line {
namespace {

sigset_t signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

int checked(int descriptor) {
  if (descriptor < 0) throw std::system_error{errno, std::generic_category(), "signals"};
  return descriptor;
}

}  // namespace

void Interrupts::block() noexcept {
  const sigset_t set = signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Interrupts::Interrupts(std::function<void()> on_signal) : on_signal_{std::move(on_signal)} {
  const sigset_t set = signals();
  signals_ = checked(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  stop_ = checked(eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread{[this] { listen(); }};
}

Interrupts::~Interrupts() {
  eventfd_write(stop_, 1);
  thread_.join();
  close(stop_);
  close(signals_);
}

void Interrupts::listen() {
  std::array<pollfd, 2> events{pollfd{stop_, POLLIN, 0}, pollfd{signals_, POLLIN, 0}};
  for (;;) {
    if (poll(events.data(), events.size(), -1) < 0) continue;
    if (events[0].revents != 0) return;
    signalfd_siginfo info;
    if (read(signals_, &info, sizeof info) != sizeof info) continue;
    received_.store(static_cast<int>(info.ssi_signo));
    on_signal_();
    // From now on this thread takes the signals as the system means them.
    events[1].fd = -1;
    const sigset_t set = signals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
}

}  // namespace stoker::command_line
