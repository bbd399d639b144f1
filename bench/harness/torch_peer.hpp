// LibTorch 1.13, where it was there when the benchmarks were built.
#pragma once

#include "stoker/bench/harness/peer_program.hpp"

namespace stoker::bench {

/// bench/peers/torch.cpp, tuned as bench/README.md says.
[[nodiscard]] PeerProgram find_torch();

}  // namespace stoker::bench
