#include "stoker/pipeline/script/run/told_calls.hpp"

#include <algorithm>
#include <string>

#include "stoker/pipeline/kernel_graph/compiled_pipeline.hpp"
#include "stoker/pipeline/script/run/node_account.hpp"

namespace stoker::script {
namespace {

constexpr std::size_t most_names = 4;

ScriptCommand told(const expr::Extracted& extracted, std::span<const std::uint32_t> origins,
                   const TensorSpec& output) {
  ScriptCommand command;
  command.output = output;
  std::vector<std::uint64_t> calls;
  for (const std::uint32_t origin : origins) {
    if (origin >= extracted.size()) continue;
    const CallSite& call = account_of(extracted.node(origin))->call;
    command.line = call.line;
    // A call may be several nodes.
    if (std::ranges::find(calls, call.number) != calls.end()) continue;
    calls.push_back(call.number);
    if (calls.size() <= most_names)
      command.kernel.append(calls.size() > 1 ? "+" : "").append(call.name);
  }
  if (calls.size() > most_names)
    command.kernel += "+" + std::to_string(calls.size() - most_names) + " more";
  return command;
}

}  // namespace

std::vector<ScriptCommand> told_calls(const expr::Extracted& extracted,
                                      const expr::LoweredProgram& program,
                                      const expr::LoweredProgram::Step& step) {
  std::vector<ScriptCommand> calls;
  for (std::size_t i = 0; i < step.origins.size(); ++i) {
    if (!step.pipeline) {
      calls.push_back(told(extracted, step.origins[i], program.made[step.outputs[0].index]));
      continue;
    }
    const KernelGraph& graph = step.pipeline->graph();
    const ValueId output = graph.stages()[i].outputs[0];
    calls.push_back(told(extracted, step.origins[i], *graph.values()[output].spec));
  }
  return calls;
}

}  // namespace stoker::script
