// A place between two rounds of a loop: the state from which the next rounds start. Rounds from equal places share one
// program.
//
// Plain values; immutable once they are shared. Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/onnx/core/value.hpp"

namespace stoker::onnx {

/// A loop of a run.
struct LoopId {
  std::size_t depth = 0;    ///< cuts and places before it
  std::size_t ordinal = 0;  ///< among the loops that began since the last cut or place

  friend bool operator==(const LoopId&, const LoopId&) = default;
};

struct LoopPlace {
  Values states = {};  ///< with placeholders
  /// Elements that the loop has read of tensors from before it, by the tensors' positions; they stay
  /// known.
  std::vector<std::pair<std::size_t, Known>> answers = {};
  std::vector<ElementType> given = {};  ///< types of a round's outputs that are stacked or joined
  std::size_t joined = 0;    ///< so many of the last of them are joined along their first axis
  std::size_t together = 1;  ///< rounds to trace until the next part()
  bool has_key = false;      ///< whether each round has a random key of its own
  /// Rounds since the first part(). Not part of the key, which has the elements of the states that depend
  /// on it.
  std::size_t rounds = 0;

  /// Equal for equal places only.
  [[nodiscard]] std::string key(LoopId loop) const;
};
using LoopPlacePtr = std::shared_ptr<const LoopPlace>;

/// The data that a walk hands over at the end of a round.
struct RoundEnd {
  LoopId loop;
  std::int64_t most = 0;  ///< rounds
  LoopPlacePtr place;     ///< of the next round
  /// The tensors from before the loop, then the lazy tensors of the states, then the key if there is
  /// one.
  std::vector<Tensor> alive = {};
  std::optional<Tensor> condition = {};  ///< is read; its first byte decides
  bool goes_on = false;                  ///< decides if there is no condition
  std::size_t rounds = 0;                ///< that end here
  /// Outputs to be stacked or joined: of one round, or of several, already stacked or joined.
  std::vector<Tensor> given = {};
};
/// How the walk continues.
struct AfterRound {
  bool goes_on = false;
  LoopPlacePtr place;
  std::vector<Tensor> alive = {};  ///< as many as RoundEnd::alive
  std::vector<Tensor> given = {};  ///< after the last round: the stacked outputs
};

}  // namespace stoker::onnx
