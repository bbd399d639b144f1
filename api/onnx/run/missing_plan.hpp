// The error of a run that finds no plan and may not make one (LoadOptions::on_new_shape). It names the inputs
// or elements of the run and the nearest plan.
//
// Threads: any. Lifetime: the graph must outlive it. Errors: not_found, with `expected`, `came` and the
// number of `plans` as details.
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
  /// After a cut, for the elements at the end of the key. `before`: the segment up to the cut, null if it has
  /// been dropped; `plans`: the segments that may follow it.
  [[nodiscard]] Error for_elements(const std::string& key, const SegmentPtr& before,
                                   Plans plans) const;
  /// For a later round of a loop whose states differ from those of all rounds before.
  [[nodiscard]] static Error for_round(Plans plans);

 private:
  [[nodiscard]] std::string text_of(std::span<const Value> inputs,
                                    std::span<const std::size_t> outputs) const;

  const Graph& graph_;
};

}  // namespace stoker::onnx
