// Describes a run of a model for certain inputs: its programs, and the nodes that are computed
// while they are made.
//
//     nodes ──▶ segment, a program ──(cut: the host reads a value)──▶ segment ──▶ … ──▶ the outputs
//
// Plain values. Units: bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/runtime/base/shape.hpp"

namespace stoker::onnx {

struct PlanDescription {
  struct Kernel {
    std::string name;
    std::vector<TensorSpec> inputs, outputs;
    std::vector<std::string> nodes;  ///< the nodes that it computes: Node::place(), escaped
    /// Time on the device; set while the system's trace is enabled (System::trace()).
    std::optional<std::chrono::nanoseconds> time = std::nullopt;
  };
  /// Kernels that run as one pipeline, or one step that the host drives, such as a loop or a kernel
  /// on another device.
  struct Step {
    std::string host;                  ///< the step that the host drives; empty: a pipeline
    std::vector<Kernel> kernels = {};  ///< in the order in which they run
    /// The nodes of a host step; kernels name their own nodes.
    std::vector<std::string> nodes = {};
    std::uint64_t arena_bytes = 0;  ///< for intermediate values
  };
  /// Where the host reads a value before it can go on.
  struct Cut {
    std::string node;   ///< the node that needs it: Node::place(), escaped
    std::string value;  ///< its name in the file; empty: the node's rule made it
    TensorSpec read;
  };
  struct Segment {
    std::vector<Step> steps;           ///< empty: there is nothing to compute
    std::uint64_t working_bytes = 0;   ///< memory of a run besides operands and results
    std::uint64_t constant_bytes = 0;  ///< weights and results computed from them
    /// Outputs, and the tensors that the next segment starts from.
    std::uint64_t result_bytes = 0;
    /// The cut at its end. Nothing: it is the last one, or it ends with a round of a loop without a
    /// read.
    std::optional<Cut> cut = std::nullopt;

    [[nodiscard]] std::size_t kernels() const noexcept {
      std::size_t count = 0;
      for (const Step& step : steps) count += step.kernels.size();
      return count;
    }
  };
  /// A node that no program computes.
  struct Folded {
    std::string node;       ///< Node::place(), escaped
    std::size_t times = 1;  ///< more than 1 in a loop
  };

  std::vector<Segment> segments;
  /// Nodes whose operands are all constant, except Constant itself: computed once, for all plans. Nodes
  /// whose results are much larger than their constants belong to the segments instead.
  std::vector<Folded> constant;
  std::vector<Folded> on_host;  ///< computed by the host while the plan is made, such as shapes
  std::size_t nodes = 0;        ///< visited by the run, each round of a loop counted
};

}  // namespace stoker::onnx
