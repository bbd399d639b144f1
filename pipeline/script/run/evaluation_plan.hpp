// One evaluation before it is compiled: which values it reads, which it leaves in buffers, and a
// text that is equal for evaluations of equal structure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/pipeline/kernel_graph/kernel_graph.hpp"
#include "stoker/pipeline/script/run/lazy_value.hpp"

namespace stoker::script {

/// The calls that the values need and that have not run, inputs before those who use them.
[[nodiscard]] std::vector<LazyCall*> calls_beneath(std::span<const LazyPtr> values);

struct EvaluationPlan {
  struct Value {
    LazyPtr lazy;  ///< null: nobody holds it
    TensorSpec spec;
    bool external = false;
    bool written = false;  ///< by a stage of this evaluation
  };
  struct Stage {
    const LazyCall* call;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs;
  };
  std::vector<Value> values;  ///< the index is the value's id in the graph
  std::vector<Stage> stages;
  std::string structure;

  /// A value gets a buffer if it is `wanted`, if a call in `later` reads it, or if its call has run
  /// before without leaving one.
  EvaluationPlan(std::span<LazyCall* const> calls, std::span<LazyCall* const> later,
                 std::span<const LazyPtr> wanted);

  [[nodiscard]] Result<KernelGraph> graph() const;

 private:
  void describe();
};

}  // namespace stoker::script
