// What actor runtimes are measured by, done with our actors on a pool of two threads.
//
// The same rows, with the same numbers of messages, are done with Asio strands
// (strand_workloads.hpp), CAF (peers/caf_actors.cpp) and BEAM (peers/actors.erl). Each runs in a
// process of its own (actor_programs.hpp), so that all begin with a fresh heap and nobody's sleeping
// threads disturb the next.
#pragma once

#include <string_view>

#include "stoker/bench/harness/harness.hpp"

namespace stoker::bench {

/// The numbers that all runtimes use.
struct ActorScale {
  static constexpr unsigned threads = 2;
  static constexpr int ping_pong = 100'000;  ///< messages
  static constexpr int producers = 8;
  static constexpr int fan_in = 50'000;  ///< messages of each producer, sent in one go
  static constexpr int ring = 503;
  static constexpr int hops = 100'000;
  static constexpr int spawns = 100'000;
  static constexpr int stream = 100'000;  ///< messages from a plain thread
};

/// `samples` samples of a row, in the row's unit, after a warm-up. Throws std::invalid_argument for
/// a row that it does not have.
[[nodiscard]] Samples actor_workload(std::string_view row, int samples);

}  // namespace stoker::bench
