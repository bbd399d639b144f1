// The order in which rows are visited: a permutation that depends only on seed and epoch, and is
// the same on every machine.
//
// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)
// drives a Fisher-Yates shuffle; numbers below a bound are drawn without bias as in Lemire, "Fast
// random integer generation in an interval", arXiv:1805.10941.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace stoker::nn {

/// 0, 1, … below `rows`, shuffled.
[[nodiscard]] std::vector<std::int64_t> shuffled_rows(std::int64_t rows, std::uint64_t seed,
                                                      std::uint64_t epoch);
/// 0, 1, … below `rows`.
[[nodiscard]] std::vector<std::int64_t> rows_in_order(std::int64_t rows);

}  // namespace stoker::nn
