// The tree of schedules, as the path to the present leaf: what was picked at each branch and what is
// left to pick there.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "explorer.hpp"

namespace stoker::explore {

/// Threads, a bit each.
using Mask = std::uint32_t;
constexpr Mask bit(ThreadNumber thread) { return Mask{1} << thread; }
/// The thread that ran last if it is among them: fewer interruptions come first.
constexpr ThreadNumber first_of(Mask threads, ThreadNumber last) {
  return (threads & bit(last)) != 0 ? last : static_cast<ThreadNumber>(std::countr_zero(threads));
}

class Choices {
 public:
  struct Branch {
    Mask left = 0;       // threads to try, the picked one among them; 0 if it is about a store
    Mask sleeping = 0;   // threads whose next operation has been tried before
    unsigned count = 0;  // stores to try
    unsigned picked = 0;
  };

  /// The first path begins as `replay` says.
  explicit Choices(Schedule replay) : replay_(std::move(replay)) {}

  /// Back to the root, to walk the path again.
  void rewind() noexcept { depth_ = 0; }
  /// Whether the path ends here: the next pick adds to it.
  [[nodiscard]] bool at_end() const noexcept { return depth_ == path_.size(); }
  void add_threads(Mask left, Mask sleeping, ThreadNumber last) {
    path_.push_back(
        {.left = left, .sleeping = sleeping, .picked = asked_for(first_of(left, last))});
  }
  const Branch& pick_thread() noexcept { return path_[depth_++]; }
  unsigned pick_store(unsigned count) {
    if (at_end()) path_.push_back({.count = count, .picked = asked_for(0)});
    return path_[depth_++].picked;
  }

  /// Turns to the next leaf; false if there is none.
  bool next() {
    for (; !path_.empty(); path_.pop_back()) {
      Branch& branch = path_.back();
      if (branch.left == 0) {
        if (++branch.picked < branch.count) return true;
        continue;
      }
      branch.sleeping |= bit(branch.picked);
      branch.left &= ~bit(branch.picked);
      if (branch.left == 0) continue;
      branch.picked = static_cast<unsigned>(std::countr_zero(branch.left));
      return true;
    }
    return false;
  }

  /// The path walked so far.
  [[nodiscard]] Schedule picked() const {
    Schedule picks;
    for (std::size_t i = 0; i < depth_; ++i)
      picks.push_back(static_cast<std::uint8_t>(path_[i].picked));
    return picks;
  }

 private:
  [[nodiscard]] unsigned asked_for(unsigned otherwise) const {
    return depth_ < replay_.size() ? replay_[depth_] : otherwise;
  }

  Schedule replay_;
  std::vector<Branch> path_;
  std::size_t depth_ = 0;
};

}  // namespace stoker::explore
