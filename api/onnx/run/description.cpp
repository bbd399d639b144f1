#include "stoker/api/onnx/run/description.hpp"

#include <map>
#include <tuple>
#include <unordered_set>

#include "stoker/api/onnx/run/refused_nodes.hpp"

namespace stoker::onnx {
namespace {

/// Looks at each graph once.
class Counter {
 public:
  Counter(const OperatorTable& operators, Description& description)
      : operators_{operators}, description_{description} {}

  void add(const Graph& graph) {
    for (const Initializer& constant : graph.initializers) add(constant.tensor);
    for (const Node& node : graph.nodes) {
      ++description_.nodes;
      add(node);
      for (const Graph* inner : graphs_of(node)) add(*inner);
    }
  }
  void finish() {
    for (const auto& [use, count] : uses_)
      description_.operators.push_back(
          {std::get<0>(use), std::get<1>(use), std::get<2>(use), count});
  }

 private:
  void add(const Node& node) {
    const auto definition = operators_.find(node.domain, node.op);
    ++uses_[{node.domain, node.op, definition ? version_of(*definition, node.opset) : 0}];
    if (node.op != "Constant" || !node.domain.empty()) return;
    for (const Attribute& attribute : node.attributes)
      if (const auto* tensor = std::get_if<TensorData>(&attribute.value)) add(*tensor);
  }
  void add(const TensorData& tensor) {
    Description::Parameters& all = description_.parameters;
    ++all.tensors;
    all.elements += tensor.elements();
    all.bytes += tensor.bytes.view.size();
    for (const std::string& text : tensor.strings) all.bytes += text.size();
  }

  const OperatorTable& operators_;
  Description& description_;
  std::map<std::tuple<std::string, std::string, int>, std::size_t> uses_;
};

Description::FirstAxis first_axis_of(const std::vector<Description::Input>& inputs) {
  using FirstAxis = Description::FirstAxis;
  std::optional<Dimension> common;
  for (const Description::Input& input : inputs) {
    if (input.has_default) continue;
    const ValueType& type = input.value.type;
    if (type.kind != ValueKind::tensor || !type.dims || type.dims->empty()) return {};
    const Dimension& first = type.dims->front();
    if (common && *common != first) return {};
    common = first;
  }
  if (!common) return {};
  if (common->extent) return {.kind = FirstAxis::Kind::fixed, .extent = *common->extent};
  return {.kind = FirstAxis::Kind::free, .symbol = common->symbol};
}

}  // namespace

ModelMetadata metadata_of(const ModelFile& file) {
  return {.producer_name = file.producer_name,
          .producer_version = file.producer_version,
          .domain = file.domain,
          .doc = file.doc,
          .ir_version = file.ir_version,
          .model_version = file.model_version,
          .opsets = file.opsets,
          .properties = file.metadata};
}

Description describe(const ModelFile& file, const OperatorTable& operators) {
  const Graph& graph = file.graph;
  Description made;
  made.metadata = metadata_of(file);
  made.graph = graph.name;
  std::unordered_set<std::string_view> constants;
  for (const Initializer& constant : graph.initializers) constants.insert(constant.name);
  for (const ValueInfo& input : graph.inputs)
    made.inputs.push_back({input, constants.contains(input.name)});
  made.outputs = graph.outputs;
  Counter counter{operators, made};
  counter.add(graph);
  counter.finish();
  for (const RefusedNode& refused : refused_nodes(graph, operators))
    made.unsupported.push_back({.place = refused.node->place(),
                                .domain = refused.node->domain,
                                .name = refused.node->op,
                                .opset = refused.node->opset,
                                .why = refused.why});
  made.first_axis = first_axis_of(made.inputs);
  return made;
}

}  // namespace stoker::onnx
