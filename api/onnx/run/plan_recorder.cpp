#include "stoker/api/onnx/run/plan_recorder.hpp"

#include <algorithm>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/graph/host_step.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"

namespace stoker::onnx {
namespace {

using Folded = PlanDescription::Folded;
using Step = PlanDescription::Step;

Step step_of(const expr::LoweredProgram::Step& lowered) {
  if (!lowered.pipeline) return {.host = lowered.host->name()};
  const PipelinePlan& plan = lowered.pipeline->plan();
  Step step{.host = {}, .arena_bytes = plan.arena.bytes};
  for (const PlannedStage& planned : plan.stages) {
    const GraphStage& stage = plan.graph.stages()[planned.stage];
    PlanDescription::Kernel kernel{.name = stage.kernel->name, .inputs = {}, .outputs = {}};
    for (const ValueId value : stage.inputs)
      kernel.inputs.push_back(*plan.graph.values()[value].spec);
    for (const ValueId value : stage.outputs)
      kernel.outputs.push_back(*plan.graph.values()[value].spec);
    step.kernels.push_back(std::move(kernel));
  }
  return step;
}

void count(const Node& node, std::vector<Folded>& among,
           std::unordered_map<const Node*, std::size_t>& places) {
  const auto [place, is_new] = places.try_emplace(&node, among.size());
  if (is_new)
    among.push_back({.node = node.place()});
  else
    ++among[place->second].times;
}

}  // namespace

void PlanRecorder::add_node(const Node& node, ComputedBy by) {
  ++plan_.nodes;
  if (node.inputs.empty() && by == ComputedBy::constants) return;  // it is one
  if (by == ComputedBy::constants) count(node, plan_.constant, constant_);
  if (by == ComputedBy::host) count(node, plan_.on_host, on_host_);
}

void PlanRecorder::add_segment(std::span<const Tensor> results, std::span<const Tensor> parameters,
                               const Segment& made) {
  PlanDescription::Segment& segment = plan_.segments.emplace_back();
  if (made.program == nullptr) return;
  // The program as the segment has it: the device keeps what it made ready.
  const expr::Extracted extracted = expr::extract(stoker::detail::values_of(results));
  const auto program = expr::prepare(extracted, made.client).value();
  for (const expr::LoweredProgram::Step& step : program->steps)
    segment.steps.push_back(step_of(step));
  segment.working_bytes = made.program->working_bytes();
  for (const Tensor& result : results) segment.result_bytes += result.bytes();
  for (const expr::Value& leaf : extracted.leaves()) {
    const auto is_leaf = [&](const Tensor& one) { return one.value().node() == leaf.node(); };
    if (std::ranges::any_of(parameters, is_leaf)) continue;
    for (const DeviceBuffer& buffer : leaf.node()->buffers())
      segment.constant_bytes += buffer.spec().bytes();
  }
}

}  // namespace stoker::onnx
