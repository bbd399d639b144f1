#include "stoker/pipeline/onnx/writing/model_writer.hpp"

#include "stoker/pipeline/onnx/writing/value_writer.hpp"

namespace stoker::onnx {

using protobuf::WireWriter;
namespace {

WireWriter write_graph(const Graph& graph);

WireWriter write_type(const ValueType& type) {
  WireWriter written;
  const auto of_tensor = [&](std::uint64_t field) {
    WireWriter tensor;
    tensor.integer(1, static_cast<std::int64_t>(type.element));
    if (type.dims) {
      WireWriter shape;
      for (const Dimension& dim : *type.dims) {
        WireWriter one;
        if (dim.extent)
          one.integer(1, *dim.extent);
        else if (!dim.symbol.empty())
          one.bytes(2, dim.symbol);
        shape.message(1, one);
      }
      tensor.message(2, shape);
    }
    written.message(field, tensor);
  };
  const auto of_inner = [&](std::uint64_t field) {
    WireWriter outer;
    written.message(field, outer.message(1, write_type(type.inner.front())));
  };
  switch (type.kind) {
    case ValueKind::tensor: of_tensor(1); break;
    case ValueKind::sparse_tensor: of_tensor(8); break;
    case ValueKind::sequence: of_inner(4); break;
    case ValueKind::optional: of_inner(9); break;
    case ValueKind::map: {
      WireWriter map;
      map.integer(1, static_cast<std::int64_t>(type.element));
      written.message(5, map.message(2, write_type(type.inner.front())));
      break;
    }
    case ValueKind::unknown:
    case ValueKind::opaque: break;
  }
  return written;
}

WireWriter write_value_info(const ValueInfo& value) {
  WireWriter written;
  written.bytes(1, value.name);
  if (value.type.kind != ValueKind::unknown) written.message(2, write_type(value.type));
  if (!value.doc.empty()) written.bytes(3, value.doc);
  return written;
}

/// Each kind of value in its field, and field 20 says which kind it is: AttributeProto.AttributeType.
struct AttributeContent {
  WireWriter& to;

  void operator()(std::monostate) const {}
  void operator()(std::int64_t value) const { to.integer(3, value).integer(20, 2); }
  void operator()(float value) const { to.real(2, value).integer(20, 1); }
  void operator()(const std::string& text) const { to.bytes(4, text).integer(20, 3); }
  void operator()(const TensorData& tensor) const {
    to.message(5, write_tensor({}, tensor)).integer(20, 4);
  }
  void operator()(const GraphPtr& graph) const {
    to.message(6, write_graph(*graph)).integer(20, 5);
  }
  void operator()(const ValueType& type) const { to.message(14, write_type(type)).integer(20, 13); }
  void operator()(const std::vector<float>& values) const {
    for (const float value : values) to.real(7, value);
    to.integer(20, 6);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) to.integer(8, value);
    to.integer(20, 7);
  }
  void operator()(const std::vector<std::string>& texts) const {
    for (const std::string& text : texts) to.bytes(9, text);
    to.integer(20, 8);
  }
  void operator()(const std::vector<TensorData>& tensors) const {
    for (const TensorData& tensor : tensors) to.message(10, write_tensor({}, tensor));
    to.integer(20, 9);
  }
  void operator()(const std::vector<GraphPtr>& graphs) const {
    for (const GraphPtr& graph : graphs) to.message(11, write_graph(*graph));
    to.integer(20, 10);
  }
  void operator()(const std::vector<ValueType>& types) const {
    for (const ValueType& type : types) to.message(15, write_type(type));
    to.integer(20, 14);
  }
};

WireWriter write_node(const Node& node) {
  WireWriter written;
  for (const std::string& input : node.inputs) written.bytes(1, input);
  for (const std::string& output : node.outputs) written.bytes(2, output);
  if (!node.name.empty()) written.bytes(3, node.name);
  written.bytes(4, node.op);
  for (const Attribute& one : node.attributes) {
    WireWriter attribute;
    attribute.bytes(1, one.name);
    std::visit(AttributeContent{attribute}, one.value);
    written.message(5, attribute);
  }
  if (!node.doc.empty()) written.bytes(6, node.doc);
  if (!node.domain.empty()) written.bytes(7, node.domain);
  return written;
}

WireWriter write_graph(const Graph& graph) {
  WireWriter written;
  for (const Node& node : graph.nodes) written.message(1, write_node(node));
  written.bytes(2, graph.name);
  for (const Initializer& one : graph.initializers)
    written.message(5, write_tensor(one.name, one.tensor));
  if (!graph.doc.empty()) written.bytes(10, graph.doc);
  for (const ValueInfo& input : graph.inputs) written.message(11, write_value_info(input));
  for (const ValueInfo& output : graph.outputs) written.message(12, write_value_info(output));
  for (const ValueInfo& value : graph.values) written.message(13, write_value_info(value));
  return written;
}

}  // namespace

WireWriter write_model(const ModelFile& model) {
  WireWriter written;
  written.integer(1, model.ir_version)
      .bytes(2, model.producer_name)
      .bytes(3, model.producer_version);
  if (!model.domain.empty()) written.bytes(4, model.domain);
  if (model.model_version != 0) written.integer(5, model.model_version);
  if (!model.doc.empty()) written.bytes(6, model.doc);
  written.message(7, write_graph(model.graph));
  for (const OpsetImport& one : model.opsets) {
    WireWriter imported;
    written.message(8, imported.bytes(1, one.domain).integer(2, one.version));
  }
  for (const auto& [key, value] : model.metadata) {
    WireWriter entry;
    written.message(14, entry.bytes(1, key).bytes(2, value));
  }
  return written;
}

}  // namespace stoker::onnx
