#include "stoker/pipeline/script/run/pipeline_cache.hpp"

#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"

namespace stoker::script {
namespace {

/// A device may refuse what the kernel's rules allow: says which of the calls it was.
Error about_stage(const Error& error, const EvaluationPlan& plan) {
  const std::string_view number = error.detail("stage");
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    if (number != std::to_string(i)) continue;
    const LazyCall& call = *plan.stages[i].call;
    return about_call(error, *call.kernel, specs_of(call.inputs))
        .with("line", std::to_string(call.line));
  }
  return error;
}

}  // namespace

Result<std::shared_ptr<CompiledPipeline>> PipelineCache::get(const EvaluationPlan& plan) {
  if (const auto found = by_structure_.find(plan.structure); found != by_structure_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front().second;
  }
  STOKER_ASSIGN(KernelGraph graph, plan.graph());
  auto pipeline = CompiledPipeline::compile(std::move(graph), device_);
  if (!pipeline) return about_stage(pipeline.error(), plan);
  ++compiled_;
  entries_.emplace_front(plan.structure, *pipeline);
  by_structure_.emplace(entries_.front().first, entries_.begin());
  if (entries_.size() > max_pipelines) {
    by_structure_.erase(entries_.back().first);
    entries_.pop_back();
  }
  return *pipeline;
}

}  // namespace stoker::script
