#include "stoker/api/onnx/optimize/graph_editor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stoker::onnx {
namespace {

/// What weights may grow by where there are hardly any.
constexpr std::size_t least_growth = 4096;

TensorData tensor_of(const Known& known) {
  return {.type = known.type(),
          .dims = {known.shape().begin(), known.shape().end()},
          .bytes = SharedBytes::own({known.bytes().begin(), known.bytes().end()}),
          .strings = {}};
}

/// Of a Constant whose number stands in an attribute of its own kind.
std::optional<TensorData> number_of(const Node& node) {
  const auto vector = [](std::size_t n) { return Shape{static_cast<std::int64_t>(n)}; };
  if (const Attribute* const one = node.find("value_int"))
    if (const auto* value = std::get_if<std::int64_t>(&one->value))
      return tensor_of(Known::integer(*value));
  if (const Attribute* const one = node.find("value_float"))
    if (const auto* value = std::get_if<float>(&one->value)) {
      const double number = *value;
      return tensor_of(Known::reals({&number, 1}, Shape{}));
    }
  if (const Attribute* const one = node.find("value_ints"))
    if (const auto* values = std::get_if<std::vector<std::int64_t>>(&one->value))
      return tensor_of(Known::integers(*values));
  if (const Attribute* const one = node.find("value_floats"))
    if (const auto* values = std::get_if<std::vector<float>>(&one->value)) {
      const std::vector<double> numbers{values->begin(), values->end()};
      return tensor_of(Known::reals(numbers, vector(numbers.size())));
    }
  return {};
}

}  // namespace

std::string Optimization::fresh(std::string_view base) {
  // Of w.1, which may itself be made of w, w.2.
  const std::size_t end = base.find_last_not_of("0123456789");
  if (end != std::string_view::npos && end > 0 && end + 1 < base.size() && base[end] == '.')
    base = base.substr(0, end);
  const auto found = numbers.find(base);
  std::size_t& i = found != numbers.end() ? found->second : numbers[std::string{base}];
  while (true) {
    ++i;
    std::string name = std::string{base} + '.' + std::to_string(i);
    if (names.insert(name).second) return name;
  }
}

GraphEditor::GraphEditor(Graph& graph, const GraphEditor* outer, Optimization& model)
    : graph_{graph}, outer_{outer}, model_{model} {
  for (const ValueInfo& input : graph.inputs) entry_of(input.name).input = &input;
  for (const ValueInfo& output : graph.outputs) ++entry_of(output.name).pins;
  for (Initializer& one : graph.initializers) {
    initializers_.push_back(std::move(one));
    Entry& entry = entry_of(initializers_.back().name);
    entry.is_own = true;
    // A body's inputs are given by the node that it belongs to. A run that gives an input of the model in the place of
    // its initializer runs the graph as it was read.
    if (entry.input == nullptr || outer_ == nullptr) entry.constant = &initializers_.back().tensor;
  }
  for (Node& node : graph.nodes) {
    nodes_.push_back(std::move(node));
    places_.emplace(&nodes_.back(), std::prev(nodes_.end()));
    index(nodes_.back());
  }
}

void GraphEditor::finish() {
  graph_.nodes.assign(std::make_move_iterator(nodes_.begin()),
                      std::make_move_iterator(nodes_.end()));
  graph_.initializers.assign(std::make_move_iterator(initializers_.begin()),
                             std::make_move_iterator(initializers_.end()));
  // What was said about values that are no more.
  std::erase_if(graph_.values, [&](const ValueInfo& value) {
    const Entry* const one = entry(value.name);
    return one == nullptr || (one->writer == nullptr && !one->is_own);
  });
}

void GraphEditor::index(Node& node) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.has_input(i)) entry_of(node.inputs[i]).readers[&node].push_back(i);
  for (const std::string& output : node.outputs)
    if (!output.empty()) entry_of(output).writer = &node;
  for (const Graph* const inner : graphs_of(node)) pin_captured(*inner);
  find_constant(node);
}

void GraphEditor::pin_captured(const Graph& inner) {
  // Names of the body itself are pinned, too, where it reads them: a name is meant only once, so this costs nothing.
  for (const Node& node : inner.nodes) {
    for (const std::string& input : node.inputs)
      if (!input.empty()) ++entry_of(input).pins;
    for (const Graph* const below : graphs_of(node)) pin_captured(*below);
  }
  for (const ValueInfo& output : inner.outputs) ++entry_of(output.name).pins;
}

void GraphEditor::find_constant(const Node& node) {
  if (!is(node, "Constant") || !node.has_output(0)) return;
  Entry& entry = entry_of(node.outputs[0]);
  for (const char* const name : {"value", "sparse_value"})
    if (const Attribute* const one = node.find(name))
      if (const auto* tensor = std::get_if<TensorData>(&one->value)) entry.constant = tensor;
  if (entry.constant != nullptr) return;
  if (auto number = number_of(node)) entry.constant = &numbers_.emplace_back(std::move(*number));
}

// Reading -------------------------------------------------------------------------------------------

const GraphEditor::Entry* GraphEditor::entry(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

GraphEditor::Entry& GraphEditor::entry_of(std::string_view name) {
  const auto found = entries_.find(name);
  return found == entries_.end() ? entries_.emplace(name, Entry{}).first->second : found->second;
}

Node* GraphEditor::writer(std::string_view name) const {
  const Entry* const one = entry(name);
  return one == nullptr ? nullptr : one->writer;
}

Node* GraphEditor::writer(std::string_view name, std::string_view op) const {
  Node* const node = writer(name);
  return node != nullptr && is(*node, op) ? node : nullptr;
}

std::vector<Node*> GraphEditor::readers(std::string_view name) const {
  const Entry* const one = entry(name);
  std::vector<Node*> nodes;
  if (one == nullptr) return nodes;
  nodes.reserve(one->readers.size());
  for (const auto& [node, places] : one->readers) nodes.push_back(node);
  return nodes;
}

bool GraphEditor::is_read_once(std::string_view name) const {
  const Entry* const one = entry(name);
  return one != nullptr && one->pins == 0 && one->readers.size() == 1 &&
         one->readers.begin()->second.size() == 1;
}

bool GraphEditor::is_read(std::string_view name) const {
  const Entry* const one = entry(name);
  return one != nullptr && (one->pins > 0 || !one->readers.empty());
}

bool GraphEditor::is_pinned(std::string_view name) const {
  const Entry* const one = entry(name);
  return one != nullptr && one->pins > 0;
}

const TensorData* GraphEditor::constant(std::string_view name) const {
  const Entry* const one = entry(name);
  if (one != nullptr && (one->input != nullptr || one->is_own || one->writer != nullptr))
    return one->constant;
  return outer_ == nullptr || name.empty() ? nullptr : outer_->constant(name);
}

std::vector<std::string> GraphEditor::own_constants() const {
  std::vector<std::string> names;
  for (const Initializer& one : initializers_)
    if (entry(one.name)->input == nullptr) names.push_back(one.name);
  return names;
}

bool GraphEditor::is_pure(const Node& node) const {
  const auto definition = model_.operators->find(node.domain, node.op);
  return definition != nullptr && !definition->random && graphs_of(node).empty();
}

// Changing ------------------------------------------------------------------------------------------

void GraphEditor::set_input(Node& node, std::size_t index, std::string_view name) {
  if (node.inputs.size() <= index) node.inputs.resize(index + 1);
  std::string& input = node.inputs[index];
  if (input == name) return;
  if (!input.empty()) {
    auto& readers = entry_of(input).readers;
    const auto place = readers.find(&node);
    std::erase(place->second, index);
    if (place->second.empty()) readers.erase(place);
  }
  input = name;
  if (!input.empty()) entry_of(input).readers[&node].push_back(index);
  touch();
}

void GraphEditor::set_attribute(Node& node, std::string_view name, AttributeValue value) {
  const auto found = std::ranges::find(node.attributes, name, &Attribute::name);
  if (found == node.attributes.end())
    node.attributes.push_back(attribute(std::string{name}, std::move(value)));
  else
    found->value = std::move(value);
  touch();
}

void GraphEditor::drop_attribute(Node& node, std::string_view name) {
  if (std::erase_if(node.attributes, [&](const Attribute& one) { return one.name == name; }) > 0)
    touch();
}

Node& GraphEditor::insert(Node node, const Node& before) {
  const auto place = nodes_.insert(places_.at(&before), std::move(node));
  places_.emplace(&*place, place);
  index(*place);
  touch();
  return *place;
}

void GraphEditor::remove(Node& node) {
  for (const std::string& input : node.inputs)
    if (!input.empty()) entry_of(input).readers.erase(&node);
  for (const std::string& output : node.outputs) {
    if (output.empty()) continue;
    Entry& entry = entry_of(output);
    entry.writer = nullptr;
    if (!entry.is_own) entry.constant = nullptr;
  }
  const auto place = places_.find(&node);
  removed_.splice(removed_.end(), nodes_, place->second);
  places_.erase(place);
  touch();
}

Node& GraphEditor::replace(Node& old, Node made) {
  const auto next = std::next(places_.at(&old));
  if (made.outputs.empty()) made.outputs = old.outputs;
  if (made.name.empty()) made.name = old.name;
  remove(old);
  const auto place = nodes_.insert(next, std::move(made));
  places_.emplace(&*place, place);
  index(*place);
  return *place;
}

bool GraphEditor::can_forward(std::string_view from, std::string_view to) const {
  if (!is_pinned(from)) return true;
  return writer(to) != nullptr && !is_pinned(to);
}

void GraphEditor::move_reads(std::string_view from, std::string_view to) {
  const auto readers = std::exchange(entry_of(from).readers, {});
  auto& now = entry_of(to).readers;
  for (const auto& [reader, places] : readers) {
    for (const std::size_t place : places) reader->inputs[place] = to;
    std::ranges::copy(places, std::back_inserter(now[reader]));
  }
  if (!readers.empty()) touch();
}

void GraphEditor::rename(std::string_view from, std::string_view to) {
  Node* const node = writer(from);
  std::ranges::replace(node->outputs, from, std::string{to});
  Entry& before = entry_of(from);
  Entry& after = entry_of(to);
  after.writer = node;
  after.constant = before.constant;
  before.writer = nullptr;
  before.constant = nullptr;
  move_reads(from, to);
}

bool GraphEditor::forward(Node& node, std::string_view other) {
  const std::string name = node.outputs.at(0);
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.has_output(i) && is_read(node.outputs[i])) return false;
  const std::string to{other};  // it may be an input of the node, which goes
  if (!can_forward(name, to)) return false;
  const bool keeps_name = is_pinned(name);
  remove(node);
  if (keeps_name)
    rename(to, name);
  else
    move_reads(name, to);
  return true;
}

bool GraphEditor::forward_all(Node& node, Node& other) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.has_output(i) &&
        (!other.has_output(i) || !can_forward(node.outputs[i], other.outputs[i])))
      return false;
  const std::vector<std::string> names = node.outputs;
  const std::vector<std::string> others = other.outputs;
  remove(node);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    if (is_pinned(names[i]))
      rename(others[i], names[i]);
    else
      move_reads(names[i], others[i]);
  }
  return true;
}

std::string GraphEditor::add_constant(std::string_view base, TensorData tensor) {
  std::string name = model_.fresh(base);
  set_constant(name, std::move(tensor));
  return name;
}

void GraphEditor::set_constant(std::string name, TensorData tensor) {
  initializers_.push_back({std::move(name), std::move(tensor)});
  Entry& entry = entry_of(initializers_.back().name);
  entry.is_own = true;
  entry.constant = &initializers_.back().tensor;
  touch();
}

void GraphEditor::remove_unread_constants() {
  std::erase_if(initializers_, [&](const Initializer& one) {
    Entry& gone = entry_of(one.name);
    if (gone.input != nullptr || is_read(one.name)) return false;
    gone.is_own = false;
    gone.constant = nullptr;
    touch();
    return true;
  });
}

bool GraphEditor::affords(std::size_t bytes, std::span<const std::string> replaced) {
  std::size_t freed = 0;
  for (const std::string& name : replaced) {
    const Entry* const one = entry(name);
    if (one != nullptr && one->constant != nullptr && one->input == nullptr && is_read_once(name))
      freed += one->constant->bytes.view.size();
  }
  const std::size_t added = bytes > freed ? bytes - freed : 0;
  if (added > model_.weight_bytes / 2 + least_growth - model_.added_bytes) return false;
  model_.added_bytes += added;
  return true;
}

bool is(const Node& node, std::string_view op) noexcept {
  return node.op == op && (node.domain.empty() || node.domain == "ai.onnx");
}

Node make_node(std::string op, std::int64_t opset, std::vector<std::string> inputs,
               std::vector<Attribute> attributes) {
  Node node;
  node.op = std::move(op);
  node.opset = opset;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return node;
}

Attribute attribute(std::string name, AttributeValue value) {
  return {.name = std::move(name), .value = std::move(value), .reference = {}};
}

}  // namespace stoker::onnx
