#include "stoker/api/onnx/run/plan_recorder.hpp"

#include "stoker/actors/device/device_client.hpp"
#include "stoker/api/command.hpp"
#include "stoker/api/tensor/core/values.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/graph/host_step.hpp"
#include "stoker/pipeline/tensor/lowering/evaluation.hpp"

namespace stoker::onnx {
namespace {

using Folded = PlanDescription::Folded;
using Kernel = PlanDescription::Kernel;
using Step = PlanDescription::Step;

void count(const Node& node, std::vector<Folded>& among,
           std::unordered_map<const Node*, std::size_t>& places) {
  const auto [place, is_new] = places.try_emplace(&node, among.size());
  if (is_new)
    among.push_back({.node = node.place()});
  else
    ++among[place->second].times;
}

}  // namespace

void PlanRecorder::begins(const Node& node) { marks_.begins(node); }

void PlanRecorder::ends(const Node& node, ComputedBy by) {
  marks_.ends();
  ++plan_.nodes;
  if (node.inputs.empty() && by == ComputedBy::constants) return;  // it is one
  if (by == ComputedBy::constants) count(node, plan_.constant, constant_);
  if (by == ComputedBy::host) count(node, plan_.on_host, on_host_);
}

Step PlanRecorder::step_of(const expr::Extracted& extracted,
                           const expr::LoweredProgram::Step& lowered) const {
  if (!lowered.pipeline)
    return {.host = lowered.host->name(),
            .nodes = places_of(marks_.nodes_of(extracted, lowered.origins.at(0)))};
  const PipelinePlan& plan = lowered.pipeline->plan();
  Step step{.host = {}, .arena_bytes = plan.arena.bytes};
  for (const PlannedStage& planned : plan.stages) {
    const GraphStage& stage = plan.graph.stages()[planned.stage];
    Kernel kernel{
        .name = stage.kernel->name,
        .inputs = {},
        .outputs = {},
        .nodes = places_of(marks_.nodes_of(extracted, lowered.origins.at(planned.stage)))};
    for (const ValueId value : stage.inputs)
      kernel.inputs.push_back(*plan.graph.values()[value].spec);
    for (const ValueId value : stage.outputs)
      kernel.outputs.push_back(*plan.graph.values()[value].spec);
    step.kernels.push_back(std::move(kernel));
  }
  return step;
}

void PlanRecorder::add_segment(std::span<const Tensor> results, std::span<const Tensor> parameters,
                               SegmentPtr made) {
  PlanDescription::Segment& segment = plan_.segments.emplace_back();
  segment_ = std::move(made);
  program_ = {};
  if (segment_->program == nullptr) return;
  const expr::Extracted extracted = expr::extract(stoker::detail::values_of(results));
  program_ = OpenProgram::of(extracted, parameters, segment_->client, segment_->may_choose_layouts);
  for (const expr::LoweredProgram::Step& step : program_.program->steps)
    segment.steps.push_back(step_of(extracted, step));
  segment.working_bytes = segment_->program->working_bytes();
  for (const Tensor& result : results) segment.result_bytes += result.bytes();
  for (const OpenProgram::Source& source : program_.sources)
    for (const DeviceBuffer& buffer : source.captured)
      segment.constant_bytes += buffer.spec().bytes();
}

void PlanRecorder::measure(std::span<const Tensor> arguments, const CommandOptions& options) {
  if (!measures_ || program_.program == nullptr) return;
  std::vector<DeviceBuffer> made;
  for (const TensorSpec& spec : program_.program->made)
    made.push_back(program_.device->make_buffer(spec).value());
  const auto commands =
      expr::start(*program_.program, program_.device, program_.leaves(arguments), made, options)
          .value();
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (commands[i] == nullptr) continue;  // the host drives it
    const Command command{commands[i], program_.device};
    command.get();
    const std::vector<std::chrono::nanoseconds> times = command.step_times();
    std::vector<Kernel>& kernels = plan_.segments.back().steps[i].kernels;
    if (times.size() != kernels.size()) continue;  // nobody timed it
    for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k].time = times[k];
  }
}

}  // namespace stoker::onnx
