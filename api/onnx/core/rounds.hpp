// The rounds of a loop whose number or shapes only the run knows, as the loop's rule goes through them.
//
//     rule: body ──▶ part() ──▶ body ──▶ part() ──▶ … ──▶ outputs
//
// Where a round cannot be traced together with the next one, or so many have been that their program gets too long, the
// rule parts them. From then on rounds that start from alike states, of the same types and extents and with the same
// elements where the host knows them, are the same program, and the rule is called for some of them. So it
// keeps nothing beyond part() but what that returns.
//
// Threads: that of the walk. Errors are thrown.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/api/onnx/core/value.hpp"

namespace stoker::onnx {

/// Between two rounds.
struct LoopState {
  bool goes_on = true;
  Values states = {};  ///< what the next round starts from, or the last ones
  Values given = {};   ///< behind the last round that was parted: what the rounds gave, stacked
  std::size_t together = 0;  ///< rounds that come before they are parted again; 0: any number
};

/// What a round comes to.
struct RoundResult {
  Value goes_on;         ///< a condition
  Values before, after;  ///< states, as many
  /// What the body calls the states.
  std::span<const std::string_view> names;
  /// What is to be stacked, tensors, of each round since the one that was parted last.
  std::vector<Values> given;
  std::size_t together = 1;  ///< of what comes next
};

class Rounds {
 public:
  virtual ~Rounds() = default;
  /// Where the loop goes on; nothing: with its first round.
  [[nodiscard]] virtual std::optional<LoopState> resumed() = 0;
  /// Whether a round with this condition must be parted from the next: its condition takes a cut, or one was made since
  /// rounds were parted, or the loop began.
  [[nodiscard]] virtual bool must_part(const Value& goes_on) const = 0;
  /// Whether rounds may be parted only because they are many: not if each run must be one program, and not if a state
  /// decides about shapes, which would take cuts.
  [[nodiscard]] virtual bool may_part(std::span<const std::string_view> names) const = 0;
  /// Ends a round, by a cut if its condition takes one. The result does not go on behind as many rounds as the loop may
  /// have.
  [[nodiscard]] virtual LoopState part(RoundResult round) = 0;
};

}  // namespace stoker::onnx
