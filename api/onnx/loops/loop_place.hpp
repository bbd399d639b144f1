// A place between two rounds of a loop: what the rounds after it start from. Rounds from equal places are one program.
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
  std::size_t ordinal = 0;  ///< among the loops that began since the last one of these

  friend bool operator==(const LoopId&, const LoopId&) = default;
};

struct LoopPlace {
  Values states = {};  ///< with placeholders
  /// What was asked for in the loop of tensors that were there before it, by position, and stays known.
  std::vector<std::pair<std::size_t, Known>> answers = {};
  std::vector<ElementType> given = {};  ///< types of what a round gives to be stacked
  std::size_t together = 1;             ///< rounds that come before they are parted again
  bool has_key = false;  ///< whether rounds have a key of random numbers of their own
  /// Rounds since the loop was parted first. No part of the key: the elements of states that it is for are.
  std::size_t rounds = 0;

  /// The same for equal places only.
  [[nodiscard]] std::string key(LoopId loop) const;
};
using LoopPlacePtr = std::shared_ptr<const LoopPlace>;

/// What a walk hands over at the end of a round.
struct RoundEnd {
  LoopId loop;
  std::int64_t most = 0;  ///< rounds
  LoopPlacePtr place;     ///< of the next round
  /// What was there before the loop, then the lazy tensors of the states, then the key if there is one.
  std::vector<Tensor> alive = {};
  std::optional<Tensor> condition = {};  ///< to be read; its first byte decides
  bool goes_on = false;                  ///< if there is no condition
  std::size_t rounds = 0;                ///< that end here
  std::vector<Tensor> given = {};        ///< to be stacked: of one round, or of several, stacked
};
/// How it goes on.
struct AfterRound {
  bool goes_on = false;
  LoopPlacePtr place;
  std::vector<Tensor> alive = {};  ///< as many as were handed over
  std::vector<Tensor> given = {};  ///< behind the last round: stacked
};

}  // namespace stoker::onnx
