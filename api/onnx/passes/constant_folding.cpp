// What nodes make of constants, computed on the device when the model is loaded, so that other passes see it.
// Only small tensors: what is made of large ones the first run computes, once, from the file.
#include <algorithm>
#include <set>

#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::constant_folding {
namespace {

/// Of all operands of a node.
constexpr std::size_t most_bytes = std::size_t{1} << 20;
/// What a result may have whatever its operands have: shapes and single numbers.
constexpr std::size_t always = 4096;
/// Results of so few bytes take no more memory than their nodes, so they are not counted.
constexpr std::size_t uncounted = 256;

/// The operands; nothing if one is not known, or if they are many.
std::optional<std::vector<Initializer>> operands_of(const GraphEditor& graph, const Node& node) {
  std::vector<Initializer> operands;
  std::set<std::string_view> names;
  std::size_t bytes = 0;
  for (const std::string& name : node.inputs) {
    if (name.empty()) continue;
    const TensorData* const tensor = graph.constant(name);
    if (tensor == nullptr) return {};
    bytes += tensor->bytes.view.size();
    if (names.insert(name).second) operands.push_back({name, *tensor});
  }
  if (operands.empty() || bytes > most_bytes) return {};
  return operands;
}

void run(GraphEditor& graph) {
  graph.each([&](Node& node) {
    const auto first =
        std::ranges::find_if(node.outputs, [](const std::string& name) { return !name.empty(); });
    if (first == node.outputs.end() || graph.model().kept.contains(*first) || !graph.is_pure(node))
      return;
    const auto operands = operands_of(graph, node);
    if (!operands) return;
    graph.model().kept.insert(*first);
    std::size_t bytes = 0;
    for (const Initializer& operand : *operands) bytes += operand.tensor.bytes.view.size();
    auto results = graph.model().evaluate(node, *operands, std::max(always, bytes + bytes / 2));
    if (!results) return;
    std::size_t made = 0;
    for (const TensorData& result : *results) made += result.bytes.view.size();
    if (made > uncounted && !graph.affords(made, {&operands->front().name, 1})) return;
    const std::vector<std::string> names = node.outputs;
    graph.remove(node);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!names[i].empty()) graph.set_constant(names[i], std::move((*results)[i]));
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "constant_folding",
             .summary = "nodes whose operands are constants of at most 1 MiB are computed at load, "
                        "unless this makes the weights larger than 1.5 times what they were",
             .stage = PassStage::constants,
             .run = &run});
}

}  // namespace stoker::onnx::passes::constant_folding
