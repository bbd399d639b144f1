// `stoker observe`: the supervision tree and the devices of a running program, or of a system of its
// own.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "stoker/api/command_line/interrupts.hpp"
#include "stoker/api/command_line/numbers.hpp"
#include "stoker/api/command_line/output.hpp"
#include "stoker/api/command_line/verbs.hpp"
#include "stoker/api/observe/observe_server.hpp"
#include "stoker/runtime/base/printable.hpp"

namespace stoker::command_line {
namespace {

struct Options {
  std::string socket;
  std::string device;
  bool once = false;
  bool json = false;
  double interval_s = 1;

  [[nodiscard]] std::chrono::nanoseconds interval() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>{interval_s});
  }
};

/// Throws a CLI::Error for what the parser cannot see.
void check(const Options& options) {
  if (options.interval_s == 0 && !options.once)
    throw CLI::ValidationError{"--interval 0 needs --once"};
}

/// Waits that a signal ends.
class Pause {
 public:
  /// False once it has been interrupted.
  bool wait(std::chrono::nanoseconds time) {
    std::unique_lock lock{mutex_};
    return !changed_.wait_for(lock, time, [this] { return interrupted_; });
  }
  void interrupt() {
    const std::scoped_lock lock{mutex_};
    interrupted_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

using Look = std::function<Result<SystemObservation>()>;

/// A system that does nothing, on the chosen device.
Look look_at_own_system(const std::string& device) {
  SystemOptions own;
  own.config.observe_socket.clear();
  const System system{std::move(own)};
  return [system, opened = system.device(device)] { return system.observe().wait(); };
}

void show(const SystemObservation& seen, const SystemObservation* before, const Options& options) {
  const ObservationRates since = before ? rates(*before, seen) : ObservationRates{};
  const ObservationRates* const known = since.seconds > 0 ? &since : nullptr;
  if (options.json && options.once) {
    print_json(nlohmann::json::parse(to_json(seen, known)));
  } else if (options.json) {
    std::cout << to_json(seen, known) << std::endl;
  } else {
    // A terminal is drawn over; elsewhere one comes after the other.
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    if (!options.once && terminal) std::cout << "\033[H\033[2J";
    std::cout << printable(to_text(seen, known));
    if (!options.once && !terminal) std::cout << '\n';
    std::cout << std::flush;
  }
}

int observe(const Options& options) {
  Pause pause;
  Interrupts interrupts;
  interrupts.on_signal([&pause] { pause.interrupt(); });
  const Look look = options.socket.empty()
                        ? look_at_own_system(options.device)
                        : Look{[&options] { return observe_at(options.socket); }};
  SystemObservation before = look().value();
  if (!options.once || options.interval_s == 0) show(before, nullptr, options);
  if (options.interval_s == 0) return ok;
  while (pause.wait(options.interval())) {
    const Result<SystemObservation> seen = look();
    if (!seen && !options.once) {
      std::cerr << "stoker: the program has ended: " << printable(seen.error().reason()) << '\n';
      return ok;
    }
    show(seen.value(), &before, options);
    if (options.once || !std::cout) return ok;  // what does not arrive is told at the end
    before = *seen;
  }
  return interrupted + interrupts.received();
}

constexpr const char* examples = R"(
Examples:
  STOKER_OBSERVE=/tmp/edges.sock stoker run edges.lua &
  stoker observe --socket /tmp/edges.sock           drawn anew each second, until Ctrl-C
  stoker observe --socket /tmp/edges.sock --once --json
  stoker observe --once                             a system of its own: what there is to see

A program listens where its environment's STOKER_OBSERVE says, for its own user only.)";

}  // namespace

void add_observe(CLI::App& app, Choice& choice) {
  auto* verb =
      app.add_subcommand("observe", "Show the actors, queues and memory of a running program");
  auto options = std::make_shared<Options>();
  verb->footer(examples);
  verb->add_option("--socket", options->socket,
                   "Where the program listens; default: STOKER_OBSERVE, else a system of its own")
      ->type_name("PATH")
      ->envname("STOKER_OBSERVE");
  verb->add_option("--device", options->device,
                   "Of a system of its own: cpu, vulkan, vulkan:1, null; default: STOKER_DEVICE or "
                   "the best");
  add_seconds(*verb, "--interval", 1e-3, options->interval_s,
              "Seconds between two looks; with --once 0: one look, without rates")
      ->default_str("1");
  verb->add_flag("--once", options->once, "Look twice, for rates, and end");
  verb->add_flag("--json", options->json, "JSON; without --once one value a line");
  verb->callback([&choice, options] {
    check(*options);
    choice.json = options->json;
    choice.run = [options] { return observe(*options); };
  });
}

}  // namespace stoker::command_line
