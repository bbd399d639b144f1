// Where the internal values and temporary buffers of a pipeline lie in its arena.
//
// Two values share memory only if every reader of the first is an ancestor of the writer of the
// second: sharing then adds no ordering, so independent branches still overlap. Placement is
// greedy, largest first, at the lowest offset that is free (Pisarchyk & Lee, "Efficient Memory
// Management for Deep Neural Net Inference", 2020, greedy by size).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

/// One thing to place: written by stage `first`, last read by the stages `readers` (positions in
/// the order of execution). A temporary buffer is written and read by its own stage only.
struct ArenaItem {
  std::uint64_t bytes = 0;
  std::uint32_t first = 0;
  std::vector<std::uint32_t> readers;
};

/// Which stages come before which, along dependencies.
class Ancestry {
 public:
  /// `after[i]` are direct predecessors of stage i, all smaller than i.
  explicit Ancestry(std::span<const std::vector<std::uint32_t>> after);
  [[nodiscard]] bool is_ancestor(std::uint32_t earlier, std::uint32_t later) const noexcept {
    return (bits_[later * words_ + earlier / 64] >> (earlier % 64)) & 1U;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

struct ArenaPlan {
  std::vector<std::uint64_t> offsets;  ///< one per item
  std::uint64_t bytes = 0;             ///< size of the arena
  std::uint64_t unshared_bytes = 0;    ///< what it would be without sharing
};

/// Offsets are multiples of `alignment` (a power of two).
[[nodiscard]] ArenaPlan plan_arena(std::span<const ArenaItem> items, const Ancestry& ancestry,
                                   std::uint64_t alignment = 256);

}  // namespace stoker
