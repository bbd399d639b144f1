// A minute in which everything goes wrong: workers crash at random, the device is lost every second,
// scripts are killed, callers give up, the process forks, and programs exit with work in flight. At the
// end every future must have had its answer, memory must be where it was, every answer that came must
// have been right, and every process must have ended by itself.
//
// STOKER_SOAK_SECONDS changes how long it takes.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "stoker/actors/group.hpp"
#include "stoker/api/script.hpp"
#include "stoker/api/stoker.hpp"
#include "stoker/bench/harness/groups.hpp"
#include "stoker/bench/harness/resident.hpp"
#include "stoker/bench/soak/soak_children.hpp"
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::bench {
namespace {

constexpr int teams = 20;
constexpr int workers_of_team = 100;
constexpr int callers = 4;

struct Square {
  int value = 0;
  bool crash = false;
};

class Worker final : public Actor {
 public:
  int on(Square job) {
    if (job.crash) throw std::runtime_error{"crash"};
    return job.value * job.value;
  }
};

/// What came of everything that was asked.
struct Tally {
  std::atomic<std::uint64_t> asked{0}, right{0}, wrong{0}, failed{0}, late{0};
  std::atomic<std::uint64_t> kernels{0}, lost{0}, scripts{0}, killed{0};
  std::atomic<std::uint64_t> losses{0};
  std::mutex mutex;
  Samples recovery_ms, waits_ended_ms;

  template <class T> void take(const Result<T>& outcome, bool as_expected) {
    if (outcome)
      ++(as_expected ? right : wrong);
    else if (outcome.error().code() == ErrorCode::deadline_exceeded)
      ++late;
    else
      ++failed;
  }
};

/// Calls workers; one call in a hundred crashes its worker, some have little time.
void call_workers(const ActorGroup<Worker>& group, const std::atomic<bool>& over, Tally& tally,
                  unsigned seed) {
  std::minstd_rand random{seed};
  struct Asked {
    int value;
    Future<int> answer;
  };
  std::vector<Asked> asked;
  while (!over) {
    for (int i = 0; i < 64; ++i) {
      const auto worker = group.next();
      if (!worker) continue;
      const int value = static_cast<int>(random() % 1000);
      const CallOptions options{.timeout = random() % 10 == 0 ? std::chrono::nanoseconds{1000}
                                                              : std::chrono::nanoseconds::max()};
      asked.push_back({value, worker.call(Square{value, random() % 100 == 0}, options)});
      ++tally.asked;
    }
    for (const Asked& one : asked) {
      const Result<int>& outcome = one.answer.wait();  // parks
      tally.take(outcome, outcome && *outcome == one.value * one.value);
    }
    asked.clear();
  }
}

/// Runs kernels on a device that is lost again and again.
void run_kernels(const Device& device, const std::atomic<bool>& over, Tally& tally) {
  const std::vector<float> values(1024, -2.0F);
  while (!over) {
    try {
      device.when_ready().get();
      const Buffer x = device.buffer(values);
      for (int i = 0; i < 50 && !over; ++i) {
        const auto read = device.run("abs", {x}).read<float>();
        const auto& outcome = read.wait();
        ++tally.kernels;
        if (!outcome) throw outcome.error();
        if ((*outcome)[7] != 2.0F) ++tally.wrong;
      }
    } catch (const Error& error) {
      ++(error.code() == ErrorCode::device_lost ? tally.lost : tally.failed);
    }
  }
}

/// Starts scripts that never end, and kills them.
void kill_scripts(const System& system, const std::atomic<bool>& over, Tally& tally) {
  while (!over) {
    ScriptHost host = script_host(system, system.device("null"));
    const ScriptRun run = host.start({"endless", "while true do end"}, {});
    this_process::sleep_for(system.clock(), std::chrono::milliseconds{20});
    run.cancel();
    ++tally.scripts;
    if (!run.done.wait()) ++tally.killed;
  }
}

/// Loses the device every second while something waits for it, and measures both ends of it.
void lose_devices(const Device& device, const Faults& faults, Clock::time_point end, Tally& tally) {
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::seconds{1});
    try {
      const Buffer x = device.buffer({1.0F});
      faults.hang_submission();
      const Command waiting = device.submit("relu", {x}, x);
      const auto start = Clock::now();
      faults.lose();
      static_cast<void>(waiting.wait());
      const double ended = seconds_since(start);
      device.when_ready().get();
      ++tally.losses;
      const std::scoped_lock lock{tally.mutex};
      tally.waits_ended_ms.add(ended * 1e3);
      tally.recovery_ms.add(seconds_since(start) * 1e3);
    } catch (const Error&) {  // lost between two lines; the next second comes
      faults.clear();
    }
  }
}

void start_team(const System& system, int number, const ActorGroup<Worker>& group) {
  std::vector<ChildSpec> children;
  for (int i = 0; i < workers_of_team; ++i) {
    ChildSpec spec;
    spec.id = "worker " + std::to_string(i);
    spec.start = [group, id = spec.id](const ChildStart& start) {
      const auto worker = start.spawn<Worker>({.name = id});
      group.join(worker);
      return ActorAddress{worker};
    };
    children.push_back(std::move(spec));
  }
  ChildSpec team = supervisor_child({.name = "team " + std::to_string(number),
                                     .intensity = 1'000'000,
                                     .period = std::chrono::seconds{1}},
                                    std::move(children));
  static_cast<void>(system.supervisor().start_child(std::move(team)).get());
}

}  // namespace

void soak(Context& context) {
  const char* asked_for = std::getenv("STOKER_SOAK_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  const int seconds = asked_for ? std::max(2, std::atoi(asked_for)) : context.quick ? 6 : 60;
  const LogLevel level = log_level();
  set_log_level(LogLevel::off);  // thousands of crashes are reported otherwise
  const Faults faults;
  Tally tally;
  double before = 0;
  double after = 0;
  bool stopped = false;
  ProcessTally forked;
  ProcessTally exited;
  {
    SystemOptions options;
    options.drivers = with_faults(faults);
    options.device_restarts.intensity = 1'000'000;  // it is lost on purpose
    options.device_restarts.back_off.most = std::chrono::milliseconds{10};
    const System system{options};
    const Device device = system.device("cpu");
    const ActorGroup<Worker> group;
    for (int i = 0; i < teams; ++i) start_team(system, i, group);
    std::atomic<bool> over{false};
    std::vector<Future<void>> running;
    for (unsigned i = 0; i < callers; ++i)
      running.push_back(
          Process::spawn(system.executor(), [&, i] { call_workers(group, over, tally, i + 1); }));
    running.push_back(Process::spawn(system.executor(), [&] { run_kernels(device, over, tally); }));
    running.push_back(
        Process::spawn(system.executor(), [&] { kill_scripts(system, over, tally); }));
    std::jthread forks{[&] { fork_children(system, device, over, forked); }};
    std::jthread exits{[&] { exit_programs(over, exited); }};
    const auto start = Clock::now();
    const auto cpu_faults = faults.on("cpu");
    lose_devices(device, cpu_faults, start + std::chrono::seconds{std::max(1, seconds / 4)}, tally);
    before = resident_bytes_trimmed();
    lose_devices(device, cpu_faults, start + std::chrono::seconds{seconds}, tally);
    after = resident_bytes_trimmed();
    over = true;
    for (const auto& one : running) static_cast<void>(one.wait());
    forks.join();
    exits.join();
    stopped = system.stop();
  }
  set_log_level(level);
  const auto count = [&](const char* name, double value) {
    context.report.add(Row{name, value, "", Better::higher});
  };
  const std::uint64_t answered = tally.right + tally.wrong + tally.failed + tally.late;
  count("calls", static_cast<double>(tally.asked.load()));
  context.report.add(Row{"calls without an answer",
                         static_cast<double>(tally.asked.load() - answered), "", Better::lower}
                         .aim(0));
  context.report.add(
      Row{"wrong answers", static_cast<double>(tally.wrong.load()), "", Better::lower}.aim(0));
  count("calls that failed with their worker", static_cast<double>(tally.failed.load()));
  count("calls that were late on purpose", static_cast<double>(tally.late.load()));
  count("kernels", static_cast<double>(tally.kernels.load()));
  count("scripts killed", static_cast<double>(tally.killed.load()));
  count("devices lost", static_cast<double>(tally.losses.load()));
  const auto processes = [&](const std::string& what, const ProcessTally& these) {
    count((what + " that ended well").c_str(), static_cast<double>(these.ended.load()));
    context.report.add(Row{what + " that hung or crashed",
                           static_cast<double>(these.failed + these.hung), "", Better::lower}
                           .aim(0)
                           .remark(std::to_string(these.hung.load()) + " hung"));
  };
  processes("forked children", forked);
  processes("programs that exit with work in flight", exited);
  context.report.add(Row{"loss to the end of a pending wait, worst",
                         tally.waits_ended_ms.quantile(1), "ms", Better::lower}
                         .aim(1000));
  context.report.add(Row{"loss to a device that works again, worst", tally.recovery_ms.quantile(1),
                         "ms", Better::lower});
  context.report.add(Row{"growth of the process after the first quarter",
                         (after - before) / 1048576, "MiB", Better::lower}
                         .remark("of " + std::to_string(static_cast<int>(before / 1048576))));
  context.report.add(
      Row{"stopped with nothing left behind", stopped ? 1.0 : 0.0, "", Better::higher}.aim(1));
}

}  // namespace stoker::bench
