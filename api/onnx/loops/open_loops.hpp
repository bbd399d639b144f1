// The loops that a run is in, outermost first. A loop is in the list from the end of its first separated round
// to its last round.
//
// Threads: only that of the run. Errors are thrown: those of the device.
#pragma once

#include <span>
#include <vector>

#include "stoker/api/device.hpp"
#include "stoker/api/onnx/loops/loop_place.hpp"

namespace stoker::onnx {

/// Outputs of rounds: a tensor that is to be stacked, or several along the first axis, stacked already or to be joined.
struct GivenByRounds {
  Tensor tensor;
  bool is_single = true;
};

class OpenLoops {
 public:
  struct Loop {
    LoopId id;
    std::int64_t rounds = 0;
    std::vector<std::vector<GivenByRounds>> given =
        {};  ///< for each result that is stacked or joined
  };
  /// The innermost loop; opens the loop `id` if that is not open yet.
  [[nodiscard]] Loop& innermost(LoopId id, std::size_t given);
  /// Closes the innermost.
  void close() { open_.pop_back(); }

 private:
  std::vector<Loop> open_;
};

/// Puts the tensors of all rounds behind one another along the first axis, by copies, so that different numbers of
/// rounds need no programs of their own. Throws shape_mismatch or dtype_mismatch if they differ. Precondition: there is
/// at least one.
[[nodiscard]] Tensor put_together_on(const Device& device, std::span<const GivenByRounds> rounds,
                                     const CommandOptions& options);

}  // namespace stoker::onnx
