// A library to load before a program (LD_PRELOAD): prints a backtrace and the places of the libraries
// when the program crashes or aborts, for machines without a debugger. bench/h200.sh builds it.
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace {

void copy_to_stderr(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> text{};
  for (ssize_t got = 0; (got = read(file, text.data(), text.size())) > 0;)
    if (write(STDERR_FILENO, text.data(), static_cast<std::size_t>(got)) < 0) break;
  close(file);
}

extern "C" void print_trace(int signal) {
  std::array<void*, 64> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), frames.size()), STDERR_FILENO);
  copy_to_stderr("/proc/self/maps");
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

[[gnu::constructor]] void install() {
  std::array<void*, 1> first{};
  backtrace(first.data(), 1);  // loads what it needs now rather than in a crash
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL}) std::signal(signal, print_trace);
}

}  // namespace
