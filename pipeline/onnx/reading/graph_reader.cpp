#include "stoker/pipeline/onnx/reading/graph_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "stoker/pipeline/onnx/reading/tensor_reader.hpp"
#include "stoker/pipeline/onnx/reading/type_reader.hpp"

namespace stoker::onnx {
namespace {

/// AttributeProto.AttributeType, each with the field that holds its value.
enum class Kind : std::uint8_t {
  undefined,
  real,
  integer,
  text,
  tensor,
  graph,
  reals,
  integers,
  texts,
  tensors,
  graphs,
  sparse_tensor,
  sparse_tensors,
  type,
  types
};
constexpr std::size_t kind_count = 15;
/// Each node looks for its domain among them.
constexpr std::size_t most_imports = 256;

/// A file's names for ONNX's own domain are "" and "ai.onnx".
std::string read_domain(Reading& reading, Wire& wire) {
  std::string domain = reading.name(wire);
  return domain == "ai.onnx" ? std::string{} : domain;
}

GraphPtr shared_graph(Graph graph) { return std::make_shared<const Graph>(std::move(graph)); }

class AttributeReader {
 public:
  explicit AttributeReader(Reading& reading) : reading_{reading} {}

  Attribute read(Wire::Bytes message) {
    const std::size_t before = reading_.findings.size();
    reading_.count_item();
    for (Wire wire{message, reading_.progress}; wire.next();) field(wire);
    if (!reading_.progress.stopped()) settle();
    reading_.findings.within(before, [&] { return "attribute " + in_quotes(attribute_.name); });
    return std::move(attribute_);
  }

 private:
  void field(Wire& wire) {
    switch (wire.number()) {
      case 1: attribute_.name = reading_.name(wire); break;
      case 2: one(Kind::real, wire.real()); break;
      case 3: one(Kind::integer, wire.integer()); break;
      case 4: one(Kind::text, std::string{wire.text()}); break;
      case 5: one(Kind::tensor, read_tensor(reading_, wire.bytes()).tensor); break;
      case 6: one(Kind::graph, shared_graph(read_graph(reading_, wire.bytes()))); break;
      case 7: wire.reals(list<float>(Kind::reals)); break;
      case 8: wire.integers(list<std::int64_t>(Kind::integers)); break;
      case 9:
        reading_.count_item();
        list<std::string>(Kind::texts).emplace_back(wire.text());
        break;
      case 10:
        list<TensorData>(Kind::tensors).push_back(read_tensor(reading_, wire.bytes()).tensor);
        break;
      case 11:
        list<GraphPtr>(Kind::graphs).push_back(shared_graph(read_graph(reading_, wire.bytes())));
        break;
      case 14: one(Kind::type, read_type(reading_, wire.bytes())); break;
      case 15: list<ValueType>(Kind::types).push_back(read_type(reading_, wire.bytes())); break;
      case 20: declared_ = wire.varint(); break;
      case 21: attribute_.reference = reading_.name(wire); break;
      case 22: one(Kind::sparse_tensor, read_sparse_tensor(reading_, wire.bytes()).tensor); break;
      case 23:
        list<TensorData>(Kind::sparse_tensors)
            .push_back(read_sparse_tensor(reading_, wire.bytes()).tensor);
        break;
      default: break;
    }
  }

  template <class T> void one(Kind kind, T value) {
    seen_ |= 1U << static_cast<unsigned>(kind);
    attribute_.value = std::move(value);
  }
  template <class T> std::vector<T>& list(Kind kind) {
    seen_ |= 1U << static_cast<unsigned>(kind);
    if (auto* const values = std::get_if<std::vector<T>>(&attribute_.value)) return *values;
    return attribute_.value.emplace<std::vector<T>>();
  }

  void settle() {
    if (!attribute_.reference.empty()) {
      if (seen_ != 0) reading_.findings.add("", "refers to another one and has a value");
    } else if (std::popcount(seen_) > 1) {
      reading_.findings.add("", "has values of several kinds");
    } else if (declared_ >= kind_count) {
      reading_.findings.add("", "no kind of attribute has number " + std::to_string(declared_));
    } else if (declared_ == 0 && seen_ == 0) {
      reading_.findings.add("", "has neither a kind nor a value");
    } else if (declared_ != 0 && seen_ == 0) {
      nothing(static_cast<Kind>(declared_));
    } else if (declared_ != 0 && (seen_ >> declared_ & 1U) == 0) {
      reading_.findings.add("", "has a value of another kind than it says");
    }
  }

  /// Its value is not stored: an empty list, or what some writers leave out for being 0.
  void nothing(Kind kind) {
    switch (kind) {
      case Kind::real: attribute_.value = 0.0F; break;
      case Kind::integer: attribute_.value = std::int64_t{0}; break;
      case Kind::text: attribute_.value = std::string{}; break;
      case Kind::reals: attribute_.value = std::vector<float>{}; break;
      case Kind::integers: attribute_.value = std::vector<std::int64_t>{}; break;
      case Kind::texts: attribute_.value = std::vector<std::string>{}; break;
      case Kind::tensors:
      case Kind::sparse_tensors: attribute_.value = std::vector<TensorData>{}; break;
      case Kind::graphs: attribute_.value = std::vector<GraphPtr>{}; break;
      case Kind::types: attribute_.value = std::vector<ValueType>{}; break;
      default: reading_.findings.add("", "has no value");
    }
  }

  Reading& reading_;
  Attribute attribute_;
  std::uint64_t declared_ = 0;
  std::uint32_t seen_ = 0;  // a bit for each kind
};

Node read_node(Reading& reading, Wire::Bytes message) {
  const std::size_t before = reading.findings.size();
  reading.count_node();
  Node node;
  for (Wire wire{message, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: node.inputs.push_back(reading.name(wire)); break;
      case 2: node.outputs.push_back(reading.name(wire)); break;
      case 3: node.name = reading.name(wire); break;
      case 4: node.op = reading.name(wire); break;
      case 5: node.attributes.push_back(AttributeReader{reading}.read(wire.bytes())); break;
      case 6: node.doc = wire.text(); break;
      case 7: node.domain = read_domain(reading, wire); break;
      case 8: node.overload = reading.name(wire); break;
      default: break;
    }
  }
  const auto imported = std::ranges::find(reading.opsets, node.domain, &OpsetImport::domain);
  node.opset =
      imported != reading.opsets.end() ? imported->version : reading.assumed_version(node.domain);
  reading.findings.within(before, [&] { return node.place(); });
  return node;
}

void add_opset(Reading& reading, Wire::Bytes message, std::vector<OpsetImport>& opsets) {
  reading.count_item();
  OpsetImport opset;
  for (Wire wire{message, reading.progress}; wire.next();) {
    if (wire.number() == 1) opset.domain = read_domain(reading, wire);
    if (wire.number() == 2) opset.version = wire.integer();
  }
  const std::string place = "import of domain " + in_quotes(opset.domain);
  const auto same = std::ranges::find(opsets, opset.domain, &OpsetImport::domain);
  if (opset.version < 1)
    reading.findings.add(place, "its version is " + std::to_string(opset.version));
  else if (opsets.size() == most_imports)
    reading.progress.exceeded("imports of domains", most_imports);
  else if (same == opsets.end())
    opsets.push_back(std::move(opset));
  else if (same->version != opset.version)
    reading.findings.add(place, "versions " + std::to_string(same->version) + " and " +
                                    std::to_string(opset.version) + " are imported");
}

}  // namespace

Graph read_graph(Reading& reading, Wire::Bytes message) {
  const Deeper deeper{reading};
  Graph graph;
  for (Wire wire{message, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: graph.nodes.push_back(read_node(reading, wire.bytes())); break;
      case 2: graph.name = reading.name(wire); break;
      case 5: graph.initializers.push_back(read_tensor(reading, wire.bytes())); break;
      case 10: graph.doc = wire.text(); break;
      case 11: graph.inputs.push_back(read_value_info(reading, wire.bytes())); break;
      case 12: graph.outputs.push_back(read_value_info(reading, wire.bytes())); break;
      case 13: graph.values.push_back(read_value_info(reading, wire.bytes())); break;
      case 15: graph.initializers.push_back(read_sparse_tensor(reading, wire.bytes())); break;
      default: break;
    }
  }
  return graph;
}

Function read_function(Reading& reading, Wire::Bytes message) {
  const std::size_t before = reading.findings.size();
  reading.count_item();
  Function function;
  function.opsets = read_opsets(reading, message, 9);
  reading.opsets = function.opsets;
  for (Wire wire{message, reading.progress}; wire.next();) {
    switch (wire.number()) {
      case 1: function.name = reading.name(wire); break;
      case 4: function.inputs.push_back(reading.name(wire)); break;
      case 5: function.outputs.push_back(reading.name(wire)); break;
      case 6: function.attributes.push_back(reading.name(wire)); break;
      case 7: function.nodes.push_back(read_node(reading, wire.bytes())); break;
      case 8: function.doc = wire.text(); break;
      case 10: function.domain = read_domain(reading, wire); break;
      case 11: function.defaults.push_back(AttributeReader{reading}.read(wire.bytes())); break;
      case 12: function.values.push_back(read_value_info(reading, wire.bytes())); break;
      case 13: function.overload = reading.name(wire); break;
      default: break;
    }
  }
  reading.findings.within(before, [&] { return "function " + in_quotes(function.name); });
  return function;
}

std::vector<OpsetImport> read_opsets(Reading& reading, Wire::Bytes message, std::uint32_t number) {
  std::vector<OpsetImport> opsets;
  for (Wire wire{message, reading.progress}; wire.next();)
    if (wire.number() == number) add_opset(reading, wire.bytes(), opsets);
  return opsets;
}

}  // namespace stoker::onnx
