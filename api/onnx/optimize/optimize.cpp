#include "stoker/api/onnx/optimize/optimize.hpp"

#include <algorithm>

namespace stoker::onnx {
namespace {

/// Passes make way for one another; what is left to do after these is little.
constexpr int most_rounds = 8;

void collect(const Graph& graph, Optimization& model) {
  for (const ValueInfo& input : graph.inputs) model.names.insert(input.name);
  for (const Initializer& constant : graph.initializers) {
    model.names.insert(constant.name);
    model.weight_bytes += constant.tensor.bytes.view.size();
  }
  for (const Node& node : graph.nodes) {
    model.names.insert(node.outputs.begin(), node.outputs.end());
    for (const Attribute& one : node.attributes)
      if (const auto* const tensor = std::get_if<TensorData>(&one.value))
        model.weight_bytes += tensor->bytes.view.size();
    for (const Graph* const inner : graphs_of(node)) collect(*inner, model);
  }
}

/// One round, of the graph and then of those below it.
void apply(std::span<const Pass* const> passes, Graph& graph, const GraphEditor* outer,
           Optimization& model) {
  GraphEditor editor{graph, outer, model};
  for (const Pass* const pass : passes)
    if (pass->run) pass->run(editor);
  const auto below = [&](GraphPtr& inner) {
    Graph copy = *inner;
    const bool before = std::exchange(model.changed, false);
    apply(passes, copy, &editor, model);
    if (model.changed) inner = std::make_shared<const Graph>(std::move(copy));
    model.changed |= before;
  };
  editor.each([&](Node& node) {
    for (Attribute& one : node.attributes) {
      if (auto* const only = std::get_if<GraphPtr>(&one.value)) below(*only);
      if (auto* const all = std::get_if<std::vector<GraphPtr>>(&one.value))
        std::ranges::for_each(*all, below);
    }
  });
  editor.finish();
}

/// Whether operators of ONNX's own domain mean what passes take them to mean.
bool is_standard(const Graph& graph, const OperatorTable& operators) {
  return std::ranges::all_of(graph.nodes, [&](const Node& node) {
    const auto definition = operators.find(node.domain, node.op);
    return (definition == nullptr || !definition->domain.empty() ||
            definition == OperatorTable::standard().find("", node.op)) &&
           std::ranges::all_of(graphs_of(node),
                               [&](const Graph* inner) { return is_standard(*inner, operators); });
  });
}

}  // namespace

std::shared_ptr<const ModelFile> optimized(std::shared_ptr<const ModelFile> file,
                                           std::span<const Pass* const> passes,
                                           const OperatorTable& operators, Evaluate evaluate,
                                           DeviceType device) try {
  const auto rewrites = [](const Pass* pass) { return pass->run != nullptr; };
  if (std::ranges::none_of(passes, rewrites) || !is_standard(file->graph, operators)) return file;
  Optimization model{.operators = &operators, .evaluate = std::move(evaluate), .device = device};
  collect(file->graph, model);
  auto made = std::make_shared<ModelFile>(*file);
  bool any = false;
  for (int round = 0; round < most_rounds; ++round) {
    model.changed = false;
    apply(passes, made->graph, nullptr, model);
    if (!model.changed) break;
    any = true;
  }
  return any ? made : file;
} catch (const Error&) {
  return file;  // an attribute of another kind: a run that needs the node says so
}

}  // namespace stoker::onnx
