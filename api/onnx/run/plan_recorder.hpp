// Records the description of a run while it is traced.
//
// Threads: only that of the run. Lifetime: the nodes must outlive it.
#pragma once

#include <span>
#include <unordered_map>

#include "stoker/api/onnx/run/open_program.hpp"
#include "stoker/api/onnx/run/plan_description.hpp"
#include "stoker/api/onnx/run/plans.hpp"
#include "stoker/api/onnx/run/walk.hpp"
#include "stoker/api/onnx/times/node_marks.hpp"
#include "stoker/pipeline/tensor/program/extraction.hpp"

namespace stoker::onnx {

class PlanRecorder final : public WalkObserver {
 public:
  /// `measures`: whether measure() does anything.
  explicit PlanRecorder(bool measures) : measures_{measures} {}
  [[nodiscard]] bool measures() const noexcept { return measures_; }

  void begins(const Node& node) override;
  void ends(const Node& node, ComputedBy by) override;
  /// `made` computes `results` from `parameters`. Throws the errors of the device.
  void add_segment(std::span<const Tensor> results, std::span<const Tensor> parameters,
                   SegmentPtr made);
  /// Sets the cut at the end of the segment that was added last.
  void add_cut(PlanDescription::Cut cut) { plan_.segments.back().cut = std::move(cut); }
  /// Runs the segment that was added last once more, and records the times of its kernels if the device measures
  /// them. Blocks. Throws the error of the run.
  void measure(std::span<const Tensor> arguments, const CommandOptions& options);
  [[nodiscard]] const PlanDescription& plan() const noexcept { return plan_; }
  /// The segment that was added last, and its program.
  [[nodiscard]] const SegmentPtr& segment() const noexcept { return segment_; }
  [[nodiscard]] const OpenProgram& program() const noexcept { return program_; }

 private:
  [[nodiscard]] PlanDescription::Step step_of(const expr::Extracted& extracted,
                                              const expr::LoweredProgram::Step& lowered) const;

  PlanDescription plan_;
  std::unordered_map<const Node*, std::size_t> constant_, on_host_;  // positions in the plan
  NodeMarks marks_;
  SegmentPtr segment_;
  OpenProgram program_;
  const bool measures_;
};

}  // namespace stoker::onnx
