#include "stoker/bench/onnx/kernel_times.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stoker/runtime/observe/trace.hpp"

namespace stoker::bench {
namespace {

/// All that the trace holds so far, in seconds. A replayed command is there as a whole and step by step: its steps
/// count.
double recorded_seconds(const System& system) {
  const auto events = nlohmann::json::parse(system.trace().to_json()).at("traceEvents");
  std::size_t queues = 0;
  for (const auto& event : events)
    if (event.at("name") == "process_name" && event.at("args").at("name") == "queues")
      queues = event.at("pid");
  double all = 0;
  double whole = 0;  // the command that is not yet known to have steps
  double end_of_whole = -1;
  for (const auto& event : events) {
    if (event.at("ph") != "X" || event.at("pid") != queues) continue;
    const double begin = event.at("ts");
    const double length = event.at("dur");
    if (event.contains("args")) {
      all += whole;
      whole = length;
      end_of_whole = begin + length;
    } else {
      if (begin <= end_of_whole) whole = 0;
      all += length;
    }
  }
  return (all + whole) * 1e-6;
}

}  // namespace

double kernel_seconds(const System& system, const std::function<void()>& run) {
  constexpr int runs = 20;
  const double before = recorded_seconds(system);
  system.trace().enable(true);
  for (int i = 0; i < runs; ++i) run();
  system.trace().enable(false);
  return (recorded_seconds(system) - before) / runs;
}

}  // namespace stoker::bench
