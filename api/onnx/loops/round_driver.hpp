// Runs a loop for the rules of Loop and Scan: traces its body round after round, and separates rounds where they cannot
// be traced together, or are many (core/rounds.hpp).
//
// Threads: that of the walk. Errors are thrown: those of the body's rules, and refusals of the loop.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "stoker/api/onnx/core/call.hpp"

namespace stoker::onnx {

/// How the outputs of rounds are put together.
struct StackedOutput {
  std::int64_t axis = 0;  ///< the new axis; below 0 it counts from the end
  bool reversed = false;  ///< the last round comes first
};

struct DrivenLoop {
  /// Outputs: the condition if `has_condition`, the states, then those that are stacked.
  const Graph& body;
  bool has_condition = false;
  std::size_t first_state = 0;  ///< the body's input of the first state
  std::int64_t most = 0;        ///< rounds
  bool goes_on = true;          ///< whether there is a first round
  bool asks = false;            ///< whether the condition of a round ends the loop
  /// Whether rounds may be separated because they are many: their number is known, and no input with one of these
  /// names decides about shapes.
  bool is_counted = false;
  std::vector<std::string_view> deciding = {};
  bool counts = false;            ///< whether `inputs` reads the number of the round
  std::string_view counter = {};  ///< the body's input that has this number, if one does
  /// The body's inputs, for these states and this number.
  std::function<Values(Values states, const Value& round)> inputs = {};
  /// States of which a round gives only what it appends, with the axes along which it is appended. `inputs` gets empty
  /// values for them.
  std::map<std::size_t, std::int64_t> growing = {};
  std::vector<StackedOutput> outputs = {};
};

/// The last states, then the stacked outputs. `states`: those before the first round, values that stay valid at cuts.
[[nodiscard]] Values driven(Call& call, const DrivenLoop& loop, const Values& states);

/// The outputs of all rounds, along a new axis. Precondition: there is a round.
[[nodiscard]] Value stacked(const Call& call, const Values& rounds, std::int64_t axis = 0);

}  // namespace stoker::onnx
