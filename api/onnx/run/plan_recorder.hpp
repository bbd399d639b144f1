// Writes down what a run comes to while it is traced.
//
// Threads: one, that of the run. Lifetime: nodes outlive it.
#pragma once

#include <span>
#include <unordered_map>

#include "stoker/api/onnx/run/plan_description.hpp"
#include "stoker/api/onnx/run/plans.hpp"
#include "stoker/pipeline/onnx/graph/node.hpp"

namespace stoker::onnx {

/// Who computed the results of a node.
enum class ComputedBy : std::uint8_t {
  constants,  ///< it stands on nothing else
  host,       ///< while the plan was made
  program,
};

class PlanRecorder {
 public:
  void add_node(const Node& node, ComputedBy by);
  /// `made` computes `results` of `parameters`. Throws what the device refuses.
  void add_segment(std::span<const Tensor> results, std::span<const Tensor> parameters,
                   const Segment& made);
  /// Behind the segment that was added last.
  void add_cut(PlanDescription::Cut cut) { plan_.segments.back().cut = std::move(cut); }
  [[nodiscard]] PlanDescription take() { return std::move(plan_); }

 private:
  PlanDescription plan_;
  std::unordered_map<const Node*, std::size_t> constant_, on_host_;  // positions in the plan
};

}  // namespace stoker::onnx
