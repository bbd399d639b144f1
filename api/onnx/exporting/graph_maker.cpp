#include "stoker/api/onnx/exporting/graph_maker.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::onnx {
namespace {

TensorData tensor_of(DType dtype, std::vector<std::int64_t> dims, std::span<const std::byte> from) {
  return {.type = element_type_of(dtype),
          .dims = std::move(dims),
          .bytes = SharedBytes::own({from.begin(), from.end()}),
          .strings = {}};
}

std::string key_of(const TensorData& tensor) {
  return tensor.to_string() + ':' +
         std::string{reinterpret_cast<const char*>(tensor.bytes.view.data()),
                     tensor.bytes.view.size()};
}

using Renames = std::unordered_map<std::string, std::string>;

void rename(Names& names, const Renames& to) {
  for (std::string& name : names)
    if (const auto found = to.find(name); found != to.end()) name = found->second;
}

/// Names of graphs within are their own or those of the outermost one; all differ.
void rename(Graph& graph, const Renames& to) {
  for (Node& node : graph.nodes) {
    rename(node.inputs, to);
    rename(node.outputs, to);
    for (Attribute& one : node.attributes)
      if (auto* const inner = std::get_if<GraphPtr>(&one.value)) {
        Graph copy = **inner;
        rename(copy, to);
        *inner = std::make_shared<const Graph>(std::move(copy));
      }
  }
}

}  // namespace

ValueInfo value_info(std::string name, DType dtype, const ExtentList& extents,
                     const std::string& symbol) {
  std::vector<Dimension> dims;
  for (const Extent& one : extents) {
    const bool is_batch = one == Extent{0, 1};
    dims.push_back({.extent = one.is_fixed() ? std::optional{one.number} : std::nullopt,
                    .symbol = is_batch ? symbol : ""});
  }
  return {.name = std::move(name),
          .type = {.kind = ValueKind::tensor,
                   .element = element_type_of(dtype),
                   .dims = std::move(dims),
                   .inner = {}},
          .doc = {}};
}

GraphMaker::GraphMaker(int opset, std::set<std::string, std::less<>> reserved, std::string batch)
    : opset_{opset}, batch_symbol_{std::move(batch)}, names_{std::move(reserved)}, graphs_(1) {}

void GraphMaker::add_input(ValueInfo input) { graphs_.front().inputs.push_back(std::move(input)); }

std::string GraphMaker::fresh(std::string_view base) {
  std::size_t& number = numbers_[std::string{base}];
  std::string name;
  do name = std::string{base} + '_' + std::to_string(number++);
  while (!names_.insert(name).second);
  return name;
}

std::string GraphMaker::weights(std::string_view name, TensorData tensor) {
  std::string own{name};
  if (own.empty() || !names_.insert(own).second) own = fresh(own.empty() ? "weights" : name);
  graphs_.front().initializers.push_back({own, std::move(tensor)});
  return own;
}

std::string GraphMaker::constant(std::string_view base, const std::string& key, TensorData tensor) {
  const auto [found, is_new] = constants_.try_emplace(key);
  if (is_new) {
    found->second = fresh(base);
    graphs_.front().initializers.push_back({found->second, std::move(tensor)});
  }
  return found->second;
}

Names GraphMaker::nodes(const std::string& op, const Names& inputs,
                        const std::vector<NodeAttribute>& attributes, std::size_t outputs) {
  Node made{.op = op,
            .domain = {},
            .overload = {},
            .name = {},
            .doc = {},
            .opset = opset_,
            .inputs = inputs,
            .outputs = {},
            .attributes = {}};
  for (std::size_t i = 0; i < outputs; ++i) made.outputs.push_back(fresh(op));
  made.name = made.outputs.front();
  for (const auto& [name, value] : attributes)
    made.attributes.push_back({.name = name, .value = value, .reference = {}});
  graphs_.back().nodes.push_back(made);
  return std::move(made.outputs);
}

std::string GraphMaker::node_in(Graph& graph, const std::string& op, const Names& inputs,
                                const std::vector<NodeAttribute>& attributes) {
  std::string name = node(op, inputs, attributes);
  if (&graph != &graphs_.back()) {
    graph.nodes.push_back(std::move(graphs_.back().nodes.back()));
    graphs_.back().nodes.pop_back();
  }
  return name;
}

std::string GraphMaker::integers(const std::vector<std::int64_t>& values) {
  TensorData tensor = tensor_of(DType::s64, {static_cast<std::int64_t>(values.size())},
                                std::as_bytes(std::span{values}));
  const std::string key = key_of(tensor);
  return constant("integers", key, std::move(tensor));
}

std::string GraphMaker::scalar_bits(std::uint64_t bits, DType dtype) {
  TensorData tensor =
      tensor_of(dtype, {}, std::as_bytes(std::span{&bits, 1}).first(size_of(dtype)));
  const std::string key = key_of(tensor);
  return constant("constant", key, std::move(tensor));
}

std::string GraphMaker::scalar(double number, DType dtype) {
  const expr::Value made = expr::constant(number, dtype);
  return scalar_bits(static_cast<std::uint64_t>(made.node()->attributes().integer("bits")), dtype);
}

std::string GraphMaker::batch() {
  if (!batch_.empty()) return batch_;
  Graph& outermost = graphs_.front();
  for (const ValueInfo& input : outermost.inputs)
    for (std::size_t axis = 0; axis < input.type.dims->size(); ++axis)
      if (!(*input.type.dims)[axis].symbol.empty()) {
        const std::string shape = node_in(outermost, "Shape", {input.name}, {});
        const std::string at = integers({static_cast<std::int64_t>(axis)});
        return batch_ = node_in(outermost, "Gather", {shape, at}, {});
      }
  throw Error{"onnx.save", ErrorCode::internal, "the graph has no input of an open extent"};
}

std::string GraphMaker::dims(const ExtentList& extents) {
  if (std::ranges::all_of(extents, &Extent::is_fixed)) {
    std::vector<std::int64_t> numbers;
    for (const Extent& one : extents) numbers.push_back(one.number);
    return integers(numbers);
  }
  std::string key;
  for (const Extent& one : extents)
    key += std::to_string(one.number) + '+' + std::to_string(one.per_batch) + ',';
  if (const auto found = dims_.find(key); found != dims_.end()) return found->second;
  Graph& outermost = graphs_.front();
  Names parts;
  std::vector<std::int64_t> fixed;
  const auto flush = [&] {
    if (!fixed.empty()) parts.push_back(integers(std::exchange(fixed, {})));
  };
  for (const Extent& one : extents) {
    if (one.is_fixed()) {
      fixed.push_back(one.number);
      continue;
    }
    flush();
    std::string part = batch();
    if (one.per_batch != 1) part = node_in(outermost, "Mul", {part, integers({one.per_batch})}, {});
    if (one.number != 0) part = node_in(outermost, "Add", {part, integers({one.number})}, {});
    parts.push_back(part);
  }
  flush();
  std::string made = parts.size() == 1
                         ? parts.front()
                         : node_in(outermost, "Concat", parts, {{"axis", std::int64_t{0}}});
  return dims_[key] = std::move(made);
}

std::string GraphMaker::cast(const std::string& x, DType from, DType to) {
  if (from == to) return x;
  if (to == DType::boolean)
    if (const auto known = truths_.find(x); known != truths_.end()) return known->second;
  std::string made = node("Cast", {x}, {{"to", static_cast<std::int64_t>(element_type_of(to))}});
  if (from == DType::boolean && to == DType::u8) truths_[made] = x;
  return made;
}

void GraphMaker::begin_graph() {
  graphs_.emplace_back();
  graphs_.back().name = fresh("graph");
}

std::string GraphMaker::graph_input(DType dtype, const ExtentList& extents) {
  std::string name = fresh("given");
  graphs_.back().inputs.push_back(value_info(name, dtype, extents, batch_symbol_));
  return name;
}

Names GraphMaker::distinct(const Names& names) {
  std::set<std::string, std::less<>> made;
  for (const Node& node : graphs_.back().nodes)
    made.insert(node.outputs.begin(), node.outputs.end());
  Names all;
  for (const std::string& name : names)
    all.push_back(made.erase(name) > 0 ? name : node("Identity", {name}));
  return all;
}

GraphPtr GraphMaker::end_graph(const Names& outputs, std::span<const DType> dtypes) {
  const Names own = distinct(outputs);
  Graph made = std::move(graphs_.back());
  graphs_.pop_back();
  for (std::size_t i = 0; i < own.size(); ++i) {
    ValueInfo output = value_info(own[i], dtypes[i], {}, {});
    output.type.dims.reset();
    made.outputs.push_back(std::move(output));
  }
  return std::make_shared<const Graph>(std::move(made));
}

Graph GraphMaker::finish(const Names& results, std::vector<ValueInfo> outputs) && {
  const Names own = distinct(results);
  Renames renames;
  for (std::size_t i = 0; i < own.size(); ++i) renames.emplace(own[i], outputs[i].name);
  Graph made = std::move(graphs_.front());
  rename(made, renames);
  made.outputs = std::move(outputs);
  return made;
}

}  // namespace stoker::onnx
