// The loops that a run is in, outermost first, from the end of their first round that is parted to their last.
//
// Threads: one, that of the run. Errors are thrown: what the device refuses.
#pragma once

#include <span>
#include <vector>

#include "stoker/api/device.hpp"
#include "stoker/api/onnx/loops/loop_place.hpp"

namespace stoker::onnx {

/// What rounds gave to be stacked: the tensor of one, or those of several, along a new first axis.
struct GivenByRounds {
  Tensor tensor;
  std::int64_t rounds = 1;
};

class OpenLoops {
 public:
  struct Loop {
    LoopId id;
    std::int64_t rounds = 0;
    std::vector<std::vector<GivenByRounds>> given = {};  ///< for each result that is stacked
  };
  /// The innermost, which is opened if it is another one.
  [[nodiscard]] Loop& innermost(LoopId id, std::size_t given);
  /// Closes the innermost.
  void close() { open_.pop_back(); }

 private:
  std::vector<Loop> open_;
};

/// All rounds along a new first axis, by copies, so that no number of them needs a program of its own. Throws
/// shape_mismatch or dtype_mismatch unless they are alike. Precondition: there is one.
[[nodiscard]] Tensor stacked_on(const Device& device, std::span<const GivenByRounds> rounds,
                                const CommandOptions& options);

}  // namespace stoker::onnx
