#include "stoker/pipeline/onnx/graph/node.hpp"

#include <algorithm>
#include <array>

#include "stoker/pipeline/onnx/graph/graph.hpp"
#include "stoker/pipeline/onnx/graph/model_file.hpp"
#include "stoker/pipeline/onnx/graph/shown.hpp"

namespace stoker::onnx {
namespace {

constexpr std::array<std::string_view, std::variant_size_v<AttributeValue>> kinds{
    "nothing",         "an integer",         "a number",
    "a text",          "a tensor",           "a graph",
    "a type",          "a list of integers", "a list of numbers",
    "a list of texts", "a list of tensors",  "a list of graphs",
    "a list of types"};

template <class T> constexpr std::string_view kind_name() {
  return kinds[AttributeValue{std::in_place_type<T>}.index()];
}

Error refused(const Node& node, std::string_view attribute, std::string why) {
  return Error{node.place(),
               ErrorCode::invalid_argument,
               std::move(why),
               {{"attribute", shown(attribute)}, {"opset", std::to_string(node.opset)}}};
}

/// Null if it is missing; throws if it is of another kind.
template <class T> const T* value_of(const Node& node, std::string_view name) {
  const Attribute* const found = node.find(name);
  if (found == nullptr) return nullptr;
  if (const T* const value = std::get_if<T>(&found->value)) return value;
  throw refused(
      node, name,
      "expected " + std::string{kind_name<T>()} + ", came " + std::string{kind_of(found->value)});
}

template <class T> const T& needed(const Node& node, std::string_view name) {
  if (const T* const value = value_of<T>(node, name)) return *value;
  throw refused(node, name, "expected " + std::string{kind_name<T>()} + ", it is missing");
}

template <class T> T value_or(const Node& node, std::string_view name, T fallback) {
  const T* const value = value_of<T>(node, name);
  return value == nullptr ? std::move(fallback) : *value;
}

}  // namespace

std::string_view kind_of(const AttributeValue& value) noexcept { return kinds[value.index()]; }

const Attribute* Node::find(std::string_view attribute) const noexcept {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::int64_t Node::integer(std::string_view name) const {
  return needed<std::int64_t>(*this, name);
}
std::int64_t Node::integer(std::string_view name, std::int64_t fallback) const {
  return value_or(*this, name, fallback);
}
float Node::real(std::string_view name) const { return needed<float>(*this, name); }
float Node::real(std::string_view name, float fallback) const {
  return value_or(*this, name, fallback);
}
std::string Node::text(std::string_view name) const { return needed<std::string>(*this, name); }
std::string Node::text(std::string_view name, std::string_view fallback) const {
  return value_or(*this, name, std::string{fallback});
}
const TensorData& Node::tensor(std::string_view name) const {
  return needed<TensorData>(*this, name);
}
const Graph& Node::graph(std::string_view name) const { return *needed<GraphPtr>(*this, name); }
const ValueType& Node::type(std::string_view name) const { return needed<ValueType>(*this, name); }

ElementType Node::element_type(std::string_view name, ElementType fallback) const {
  const std::int64_t* const number = value_of<std::int64_t>(*this, name);
  if (number == nullptr) return fallback;
  const auto type = onnx::element_type(static_cast<std::uint64_t>(*number));
  if (!type) throw refused(*this, name, "no element type is number " + std::to_string(*number));
  return *type;
}

const std::vector<std::int64_t>* Node::integers(std::string_view name) const {
  return value_of<std::vector<std::int64_t>>(*this, name);
}
std::vector<std::int64_t> Node::integers(std::string_view name,
                                         std::vector<std::int64_t> fallback) const {
  return value_or(*this, name, std::move(fallback));
}
const std::vector<float>* Node::reals(std::string_view name) const {
  return value_of<std::vector<float>>(*this, name);
}
const std::vector<std::string>* Node::texts(std::string_view name) const {
  return value_of<std::vector<std::string>>(*this, name);
}

std::string Node::operator_name() const { return shown(domain.empty() ? op : domain + '.' + op); }

std::string Node::place() const {
  const std::string of = " (" + operator_name() + ')';
  if (!name.empty()) return "node " + in_quotes(name) + of;
  for (const std::string& output : outputs)
    if (!output.empty()) return "the node of " + in_quotes(output) + of;
  return "a node" + of;
}

const Initializer* Graph::initializer(std::string_view wanted) const noexcept {
  const auto found = std::ranges::find(initializers, wanted, &Initializer::name);
  return found == initializers.end() ? nullptr : &*found;
}

std::int64_t ModelFile::opset(std::string_view of_domain) const noexcept {
  const auto found = std::ranges::find(opsets, of_domain, &OpsetImport::domain);
  return found == opsets.end() ? 0 : found->version;
}

std::vector<const Graph*> graphs_of(const Node& node) {
  std::vector<const Graph*> found;
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<GraphPtr>(&attribute.value)) found.push_back(one->get());
    if (const auto* all = std::get_if<std::vector<GraphPtr>>(&attribute.value))
      for (const GraphPtr& one : *all) found.push_back(one.get());
  }
  return found;
}

std::size_t count_nodes(const Graph& graph) {
  std::size_t count = graph.nodes.size();
  for (const Node& node : graph.nodes)
    for (const Graph* const below : graphs_of(node)) count += count_nodes(*below);
  return count;
}

}  // namespace stoker::onnx
