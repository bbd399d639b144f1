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
///
/// Exact for stages at most `reach` apart; of those further apart it says that there is no such way.
/// So its size grows with the number of stages and not with its square, and a plan that asks it orders
/// no less than it has to.
class Ancestry {
 public:
  static constexpr std::uint32_t reach = 8192;

  /// `after[i]` are direct predecessors of stage i, all smaller than i.
  explicit Ancestry(std::span<const std::vector<std::uint32_t>> after);
  [[nodiscard]] bool is_ancestor(std::uint32_t earlier, std::uint32_t later) const noexcept {
    const std::size_t word = earlier / 64, first = first_word(later);
    return earlier < later && word >= first &&
           ((bits_[rows_[later] + word - first] >> (earlier % 64)) & 1U) != 0;
  }

 private:
  /// A stage has a bit for each from 64 times this one on to itself.
  static constexpr std::size_t first_word(std::uint32_t stage) noexcept {
    return stage / 64 <= reach / 64 ? 0 : stage / 64 - reach / 64;
  }

  std::vector<std::size_t> rows_;  // where the words of each stage begin
  std::vector<std::uint64_t> bits_;
};

struct ArenaPlan {
  std::vector<std::uint64_t> offsets;  ///< one per item
  std::uint64_t bytes = 0;             ///< size of the arena
  std::uint64_t unshared_bytes = 0;    ///< what it would be without sharing
  /// More than any arena has: sizes stop there instead of passing what 64 bits hold.
  static constexpr std::uint64_t too_many = std::uint64_t{1} << 63;
};

/// Offsets are multiples of `alignment` (a power of two). Where the sum of sizes is beyond what can be
/// counted, `bytes` is ArenaPlan::too_many and the offsets mean nothing.
///
/// Time: for each item, as many steps as there are places with different bounds below the one that it
/// gets, within a bound, each logarithmic in the number of items that were put there.
[[nodiscard]] ArenaPlan plan_arena(std::span<const ArenaItem> items, const Ancestry& ancestry,
                                   std::uint64_t alignment = 256);

}  // namespace stoker
