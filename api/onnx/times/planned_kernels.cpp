#include "stoker/api/onnx/times/planned_kernels.hpp"

#include "stoker/api/onnx/times/node_marks.hpp"
#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/tensor/lowering/lowering.hpp"

namespace stoker::onnx {

std::shared_ptr<const PlannedKernels> planned_kernels(const NodeMarks& marks,
                                                      const expr::Extracted& extracted,
                                                      const expr::LoweredProgram& program) {
  auto all = std::make_shared<PlannedKernels>();
  all->reserve(program.steps.size());
  for (const expr::LoweredProgram::Step& step : program.steps) {
    std::vector<PlannedKernel>& kernels = all->emplace_back();
    if (!step.pipeline) continue;
    const PipelinePlan& plan = step.pipeline->plan();
    kernels.reserve(plan.stages.size());
    for (const PlannedStage& planned : plan.stages)
      kernels.push_back({plan.graph.stages()[planned.stage].kernel->name,
                         marks.nodes_of(extracted, step.origins.at(planned.stage))});
  }
  return all;
}

}  // namespace stoker::onnx
