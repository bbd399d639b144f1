// The rows of actor_workloads.hpp with nothing but Asio strands on a thread pool: what an actor
// costs beyond a strand that protects a struct. Rows that end with `_defer` hand on by defer() where
// the others post().
#pragma once

#include <string_view>

#include "stoker/bench/harness/harness.hpp"

namespace stoker::bench {

/// As actor_workload().
[[nodiscard]] Samples strand_workload(std::string_view row, int samples);

}  // namespace stoker::bench
