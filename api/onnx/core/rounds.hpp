// The rounds of a loop whose number or shapes only the run knows, as the loop's rule visits them.
//
//     rule: body ──▶ part() ──▶ body ──▶ part() ──▶ … ──▶ outputs
//
// The rule separates two rounds by part() if they cannot be traced together, or if the program of the rounds so far
// gets too long. From then on, rounds that start from alike states share one program: states of the same types and
// extents, and with the same elements where the host knows them. The rule is called for only some of these rounds, so
// across part() it may keep nothing but the result of part().
//
// Threads: that of the walk. Errors are thrown.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/api/onnx/core/value.hpp"

namespace stoker::onnx {

/// The state between two rounds.
struct LoopState {
  bool goes_on = true;
  Values states = {};  ///< the states that the next round starts from, or the final ones
  /// After the last round, if rounds were separated: their outputs, stacked or joined.
  Values given = {};
  std::size_t together = 0;  ///< rounds to trace until the next part(); 0: any number
};

/// The result of a round.
struct RoundResult {
  Value goes_on;         ///< the condition
  Values before, after;  ///< states, as many
  /// The names of the states in the body.
  std::span<const std::string_view> names;
  /// The tensors to be stacked, of each round since the last part(). They stay valid at cuts.
  std::vector<Values> given;
  /// So many of the last of these, in each round, are joined along their first axis instead.
  std::size_t joined = 0;
  std::size_t together = 1;  ///< LoopState::together of the next rounds
};

class Rounds {
 public:
  virtual ~Rounds() = default;
  /// The state with which the loop continues; nothing: it begins with its first round.
  [[nodiscard]] virtual std::optional<LoopState> resumed() = 0;
  /// Whether a round with this condition must be separated from the next: because the condition needs a cut, or because
  /// a cut was made since the last part() or the start of the loop.
  [[nodiscard]] virtual bool must_part(const Value& goes_on) const = 0;
  /// Whether rounds may be separated only because they are many. Not if each run must be one program, nor if a state
  /// decides about shapes, because that would need cuts.
  [[nodiscard]] virtual bool may_part(std::span<const std::string_view> names) const = 0;
  /// Ends a round, by a cut if its condition needs one. `goes_on` of the result is false after the loop's maximum
  /// number of rounds.
  [[nodiscard]] virtual LoopState part(RoundResult round) = 0;
};

}  // namespace stoker::onnx
