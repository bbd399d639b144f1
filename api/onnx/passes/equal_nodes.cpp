// Nodes that compute the same from the same operands: the first one serves all. Small equal constants are one, too, so
// that what reads them is seen to be equal.
#include <algorithm>
#include <cstring>

#include "stoker/api/onnx/optimize/pass.hpp"

namespace stoker::onnx::passes::equal_nodes {
namespace {

/// Larger ones are told apart by where their bytes lie: weights stay unread.
constexpr std::size_t most_compared = 1024;

void add(std::string& key, const void* bytes, std::size_t size) {
  key += std::to_string(size);
  key += ':';
  if (size > 0) key.append(static_cast<const char*>(bytes), size);
}
void add(std::string& key, std::string_view text) { add(key, text.data(), text.size()); }
void add(std::string& key, std::int64_t number) { add(key, &number, sizeof number); }
void add(std::string& key, float number) { add(key, &number, sizeof number); }
void add(std::string& key, const TensorData& tensor) {
  add(key, tensor.to_string());
  const std::span<const std::byte> bytes = tensor.bytes.view;
  if (bytes.size() <= most_compared)
    add(key, bytes.data(), bytes.size());
  else
    add(key, std::to_string(reinterpret_cast<std::uintptr_t>(bytes.data())));
  for (const std::string& text : tensor.strings) add(key, text);
}
void add(std::string& key, const ValueType& type) { add(key, type.to_string()); }
void add(std::string&, std::monostate) {}
void add(std::string&, const GraphPtr&) {}  // nodes with subgraphs are no candidates
template <class T> void add(std::string& key, const std::vector<T>& all) {
  add(key, static_cast<std::int64_t>(all.size()));
  for (const T& one : all) add(key, one);
}

std::string key_of(const Node& node) {
  std::string key;
  add(key, node.domain == "ai.onnx" ? std::string_view{} : std::string_view{node.domain});
  add(key, node.op);
  add(key, node.opset);
  add(key, node.inputs);
  for (const std::string& output : node.outputs) key += output.empty() ? '-' : '+';
  std::vector<const Attribute*> sorted;
  for (const Attribute& one : node.attributes) sorted.push_back(&one);
  std::ranges::sort(sorted, {},
                    [](const Attribute* one) -> const std::string& { return one->name; });
  for (const Attribute* const one : sorted) {
    add(key, one->name);
    key += static_cast<char>('a' + one->value.index());
    std::visit([&](const auto& value) { add(key, value); }, one->value);
  }
  return key;
}

void join_constants(GraphEditor& graph) {
  std::map<std::string, std::string> first;
  const auto keep_first = [&](const std::string& name) {
    const TensorData& tensor = *graph.constant(name);
    if (graph.is_pinned(name) || tensor.bytes.view.size() > most_compared) return;
    std::string key;
    add(key, tensor);
    const auto [same, is_first] = first.emplace(std::move(key), name);
    if (!is_first) graph.move_reads(name, same->second);
  };
  // Initializers first: they are there before all nodes.
  for (const std::string& name : graph.own_constants())
    if (graph.constant(name) != nullptr) keep_first(name);
  graph.each([&](Node& node) {
    if (is(node, "Constant") && node.has_output(0) && graph.constant(node.outputs[0]) != nullptr)
      keep_first(node.outputs[0]);
  });
}

void run(GraphEditor& graph) {
  join_constants(graph);
  std::map<std::string, Node*> first;
  graph.each([&](Node& node) {
    if (!graph.is_pure(node) || is(node, "Constant")) return;
    const auto [same, is_first] = first.emplace(key_of(node), &node);
    if (!is_first) graph.forward_all(node, *same->second);
  });
}

}  // namespace

void define(PassTable& table) {
  table.add({.name = "equal_nodes",
             .summary = "nodes that apply one operator to the same operands are computed once, "
                        "except random ones",
             .run = &run});
}

}  // namespace stoker::onnx::passes::equal_nodes
