#include "stoker/bench/soak/soak_children.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "stoker/bench/harness/peer_program.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::bench {
namespace {

constexpr unsigned time_limit_seconds = 30;

/// Whether `use` is refused because it happens in a forked child.
template <class Use> bool refused_after_fork(const Use& use) {
  try {
    use();
    return false;
  } catch (const Error& error) {
    return error.code() == ErrorCode::forked_process;
  }
}

/// What a child may do and what it may not.
bool behaves_in_child(const System& parents, const Device& device, const Buffer& buffer) {
  const bool refused =
      refused_after_fork([&] { static_cast<void>(device.run("abs", {buffer})); }) &&
      refused_after_fork([&] { static_cast<void>(buffer.read<float>().get()); }) &&
      refused_after_fork([&] { static_cast<void>(parents.device("cpu")); });
  const System own;
  const Buffer made = own.device("cpu").buffer({1.0F, -2.0F});
  const auto values = own.device("cpu").run("relu", {made}).read<float>().get();
  return refused && values == std::vector{1.0F, 0.0F};
}

void count(int status, ProcessTally& tally) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    ++tally.ended;
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    ++tally.hung;
  else
    ++tally.failed;
}

}  // namespace

void fork_children(const System& system, const Device& device, const std::atomic<bool>& over,
                   ProcessTally& tally) {
  Buffer buffer;
  while (!over) {
    try {
      device.when_ready().get();
      if (!buffer) buffer = device.buffer(std::vector<float>(1024, -2.0F));
    } catch (const Error&) {  // lost between two lines
      continue;
    }
    const pid_t child = fork();
    if (child < 0) {
      ++tally.failed;
      return;
    }
    if (child == 0) {
      alarm(time_limit_seconds);
      bool well = false;
      try {
        well = behaves_in_child(system, device, buffer);
      } catch (const std::exception&) {  // counted by the parent
      }
      _exit(well ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    count(status, tally);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
}

void exit_programs(const std::atomic<bool>& over, ProcessTally& tally) {
  for (unsigned seed = 1; !over; ++seed) {
    count(run_program({own_program().string(), "--exit-busy", std::to_string(seed)}), tally);
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
}

int exit_busy(unsigned seed) {
  alarm(time_limit_seconds);
  set_log_level(LogLevel::off);  // futures that nobody looks at any more
  std::minstd_rand random{seed};
  const System system;
  const Device device = system.device("cpu");
  const Buffer square = device.buffer(std::vector<float>(384 * 384, 0.5F), Shape{384, 384});
  std::vector<Buffer> kept;
  for (int i = 0; i < 64; ++i)
    for (const char* kernel : {"matmul", "softmax", "tanh"})
      kept.push_back(kernel == std::string_view{"matmul"} ? device.run(kernel, {square, square})
                                                          : device.run(kernel, {square}));
  std::this_thread::sleep_for(std::chrono::microseconds{random() % 50'000});
  if (random() % 2 == 0) std::exit(0);       // NOLINT(concurrency-mt-unsafe): what is tested
  std::jthread other{[] { std::exit(0); }};  // NOLINT(concurrency-mt-unsafe)
  other.join();
  return 1;
}

}  // namespace stoker::bench
