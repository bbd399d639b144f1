// One turn of a model's runs, by whoever runs it: both sides are measured alike.
#pragma once

#include <thread>
#include <vector>

#include "stoker/bench/harness/harness.hpp"

namespace stoker::bench {

/// Seconds for a run, of so many in a row by each of so many clients at once. As many go before that are not
/// counted: after a pause Linux may keep the threads of a process on one core for tens of milliseconds.
template <class Run> [[nodiscard]] double seconds_per_run(int calls, int clients, const Run& run) {
  const auto all = [&] {
    std::vector<std::jthread> others;
    const auto work = [&] {
      for (int i = 0; i < calls; ++i) run();
    };
    for (int i = 1; i < clients; ++i) others.emplace_back(work);
    work();
  };
  all();
  return seconds_of(all) / (calls * clients);
}

}  // namespace stoker::bench
