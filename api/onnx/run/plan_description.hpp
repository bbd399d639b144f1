// What a run of a model for certain inputs comes to: its programs, and what is computed while they
// are made.
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
    std::vector<std::string> nodes;  ///< what it computes: Node::place(), escaped
    /// On the device, while the system's trace is enabled (System::trace()).
    std::optional<std::chrono::nanoseconds> time = std::nullopt;
  };
  /// Kernels that run as one pipeline, or one step that the host drives: a loop, a kernel on
  /// another device.
  struct Step {
    std::string host;                     ///< what the host drives; empty: a pipeline
    std::vector<Kernel> kernels = {};     ///< in the order in which they run
    std::vector<std::string> nodes = {};  ///< what the host computes; of kernels, they say it
    std::uint64_t arena_bytes = 0;        ///< of values in between
  };
  /// Where the host reads a value before it can go on.
  struct Cut {
    std::string node;   ///< which node asks: Node::place(), escaped
    std::string value;  ///< what the file calls the value; empty: the node's rule made it
    TensorSpec read;
  };
  struct Segment {
    std::vector<Step> steps;           ///< none: there is nothing to compute
    std::uint64_t working_bytes = 0;   ///< that a run needs besides operands and results
    std::uint64_t constant_bytes = 0;  ///< weights, and what was made of them
    std::uint64_t result_bytes = 0;    ///< outputs, and what the next segment starts from
    /// Behind it. Nothing: it is the last one, or a round of a loop ends there without a read.
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
    std::size_t times = 1;  ///< more than once in a loop
  };

  std::vector<Segment> segments;
  /// Stand on constants, which are none themselves: computed once, for all plans. Those that make much more
  /// of constants than they are belong to the segments.
  std::vector<Folded> constant;
  std::vector<Folded> on_host;  ///< computed by the host while the plan is made, such as shapes
  std::size_t nodes = 0;        ///< that the run went through, each round of a loop counted
};

}  // namespace stoker::onnx
