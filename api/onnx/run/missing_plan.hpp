// What a run is told that finds no plan and may make none (LoadOptions::on_new_shape): what it asked for, and
// the plan that comes nearest.
//
// Threads: any. Lifetime: the graph outlives it. Errors: not_found, with `expected`, `came` and the number of
// `plans` as details.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/api/onnx/run/plans.hpp"
#include "stoker/pipeline/onnx/graph/graph.hpp"

namespace stoker::onnx {

class MissingPlan {
 public:
  /// Segments by their keys, as Plans has them.
  using Plans = std::span<const std::pair<std::string, SegmentPtr>>;

  explicit MissingPlan(const Graph& graph) : graph_{graph} {}

  /// For these inputs of the graph and the outputs at these positions. `plans`: all first segments.
  [[nodiscard]] Error for_inputs(std::span<const Value> inputs,
                                 std::span<const std::size_t> outputs, Plans plans) const;
  /// Behind a cut, for the elements that end the key. `before`: the segment up to the cut, null if it has been
  /// dropped; `plans`: what may follow it.
  [[nodiscard]] Error for_elements(const std::string& key, const SegmentPtr& before,
                                   Plans plans) const;
  /// For a later round of a loop, whose states are not as those of any round before.
  [[nodiscard]] static Error for_round(Plans plans);

 private:
  [[nodiscard]] std::string text_of(std::span<const Value> inputs,
                                    std::span<const std::size_t> outputs) const;

  const Graph& graph_;
};

}  // namespace stoker::onnx
