#include "stoker/api/onnx/optimize/narrowing.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "stoker/api/onnx/optimize/precision_rules.hpp"
#include "stoker/pipeline/onnx/graph/file_bytes.hpp"

namespace stoker::onnx {
namespace {

using Types = std::map<std::string, ElementType, std::less<>>;

/// Rounded to T; nothing if a finite number becomes infinite, or the only one 0.
template <class T> std::optional<std::vector<std::byte>> rounded(std::span<const std::byte> bytes) {
  const std::size_t count = bytes.size() / sizeof(float);
  std::vector<std::byte> made(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    float number;
    std::memcpy(&number, bytes.data() + i * sizeof(float), sizeof(float));
    const T narrow{number};
    const auto back = static_cast<float>(narrow);
    if (std::isinf(back) && !std::isinf(number)) return {};
    if (count == 1 && back == 0 && number != 0) return {};
    std::memcpy(made.data() + i * sizeof(T), &narrow, sizeof(T));
  }
  return made;
}

/// Whether a number becomes 0 in the type.
bool loses_numbers(const TensorData& tensor, ElementType type) {
  const std::span<const std::byte> bytes = tensor.bytes.view;
  for (std::size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
    float number;
    std::memcpy(&number, bytes.data() + at, sizeof(float));
    const auto back = type == ElementType::f16 ? static_cast<float>(Half{number})
                                               : static_cast<float>(BFloat16{number});
    if (back == 0 && number != 0) return true;
  }
  return false;
}

/// Whether the node gives a constant in another shape or order.
bool is_moved_constant(const GraphEditor& graph, const Node& node) {
  const auto moves = {"Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
  const bool is_move =
      std::ranges::any_of(moves, [&](const char* const op) { return is(node, op); });
  return is_move && node.has_input(0) && graph.constant(node.inputs[0]) != nullptr;
}

/// Of one model.
class Narrower {
 public:
  Narrower(Precision precision, const DeviceInfo& device)
      : type_{precision == Precision::f16 ? ElementType::f16 : ElementType::bf16},
        gains_{gains_on(device, *carrier_of(type_))} {
    report_.precision = precision;
  }

  /// Of the model's graph first, then of those below it. Later rounds change nothing.
  void run(GraphEditor& graph);

  [[nodiscard]] PrecisionReport report() const {
    PrecisionReport made = report_;
    for (const auto& [key, kept] : kept_) made.kept.push_back(kept);
    return made;
  }

 private:
  class OfGraph;

  /// The name of the constant in 16 bits; empty if it has none.
  const std::string& narrow_constant(GraphEditor& graph, const std::string& name,
                                     const TensorData& tensor);
  void narrow_captured(GraphEditor& graph, const Graph& inner);
  void keep(const Node& node, std::string why) {
    const std::string name = node.operator_name();
    PrecisionReport::Kept& kept = kept_[{name, why}];
    if (kept.nodes++ == 0) {
      kept.name = name;
      kept.why = std::move(why);
      kept.first = node.place();
    }
  }

  const ElementType type_;
  const bool gains_;
  std::size_t rounds_ = 0;
  PrecisionReport report_;
  std::map<std::pair<std::string, std::string>, PrecisionReport::Kept> kept_;
  const GraphEditor* whole_ = nullptr;  ///< the model's graph
  /// What each graph has made of a tensor. Those of the whole graph are for the graphs within, too; others may be
  /// of graphs that are gone.
  std::map<std::pair<const GraphEditor*, const TensorData*>, std::string> constants_;
};

/// The nodes of one graph, in order.
class Narrower::OfGraph {
 public:
  OfGraph(Narrower& model, GraphEditor& graph) : model_{model}, graph_{graph} {}

  void take(Node& node) {
    const std::vector<std::string> outputs = node.outputs;
    const PrecisionRule rule = precision_rule(node);
    if (const std::optional<std::string> why = narrow(node, rule); why && !why->empty())
      model_.keep(node, *why);
    for (const std::string& output : outputs)
      if (!output.empty() && !types_.contains(output))
        types_.emplace(output, graph_.type_of(output, types_));
  }

  /// Casts back to f32 that nothing wants.
  void finish() {
    for (Node* const cast : casts_)
      if (!graph_.is_read(cast->outputs[0])) graph_.remove(*cast);
  }

 private:
  [[nodiscard]] bool is_narrow(const std::string& name) const { return narrow_.contains(name); }
  [[nodiscard]] bool is_f32(const std::string& name) const {
    return is_narrow(name) || graph_.type_of(name, types_) == ElementType::f32;
  }
  [[nodiscard]] static std::vector<std::size_t> operands_of(const Node& node,
                                                            const PrecisionRule& rule) {
    std::vector<std::size_t> operands;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.has_input(i) && rule.takes(i)) operands.push_back(i);
    return operands;
  }

  /// Nothing: it is narrow now. Else why not; empty: it is none of f32.
  std::optional<std::string> narrow(Node& node, const PrecisionRule& rule);
  [[nodiscard]] std::string obstacle(const Node& node, const PrecisionRule& rule,
                                     const std::vector<std::size_t>& operands);
  [[nodiscard]] bool is_of_weights(const Node& node);
  std::string narrow_operand(const std::string& name, const Node& before);
  void replace(Node& node, const PrecisionRule& rule);

  Narrower& model_;
  GraphEditor& graph_;
  Types types_;  ///< of results so far
  std::map<std::string, std::string, std::less<>>
      narrow_;                ///< values of f32 that are there in 16 bits
  std::vector<Node*> casts_;  ///< back to f32
};

std::optional<std::string> Narrower::OfGraph::narrow(Node& node, const PrecisionRule& rule) {
  if (!graphs_of(node).empty()) return "";  // the nodes within are looked at by themselves
  const std::vector<std::size_t> operands = operands_of(node, rule);
  std::size_t known = 0;
  for (const std::size_t i : operands) {
    const bool of_f32 = is_f32(node.inputs[i]);
    known += of_f32 ? 1 : 0;
    if (!of_f32 && graph_.type_of(node.inputs[i], types_) != ElementType::undefined) {
      // An operator whose operands have types of their own may take f32 beside.
      const bool is_mixed = rule.kind == Narrowing::sensitive || rule.kind == Narrowing::other;
      if (!is_mixed) return "";
    }
  }
  if (known == 0) {
    const bool may_be = rule.kind == Narrowing::gains;
    return may_be ? "the types of its operands are not known" : "";
  }
  std::string why = obstacle(node, rule, operands);
  if (!why.empty()) return why;
  replace(node, rule);
  return {};
}

std::string Narrower::OfGraph::obstacle(const Node& node, const PrecisionRule& rule,
                                        const std::vector<std::size_t>& operands) {
  if (rule.kind == Narrowing::sensitive) return "it is sensitive to rounding";
  if (rule.kind == Narrowing::other) return "it is computed in f32 only";
  bool gives_floats = false;
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    gives_floats |= node.has_output(i) && rule.gives(i);
  if (!gives_floats) return "no float that it gives is wanted";
  if (rule.kind == Narrowing::gains && !model_.gains_) return "the device does not gain";
  if (rule.kind == Narrowing::follows && !is_of_weights(node)) {
    bool any = false;
    for (const std::size_t i : operands) {
      if (graph_.constant(node.inputs[i]) != nullptr) continue;
      if (!is_narrow(node.inputs[i])) return "what it reads is f32";
      any = true;
    }
    if (!any) return "what it reads is f32";
  }
  for (const std::size_t i : operands) {
    const TensorData* const tensor = graph_.constant(node.inputs[i]);
    if (tensor == nullptr) continue;
    if (i == 1 && is(node, "Div") && loses_numbers(*tensor, model_.type_))
      return "it would divide by 0";
    if (model_.narrow_constant(graph_, node.inputs[i], *tensor).empty())
      return "a constant of it does not fit " + std::string{to_string(model_.report_.precision)};
  }
  return {};
}

/// Whether it moves constants that are not folded, as they are large, for products only.
bool Narrower::OfGraph::is_of_weights(const Node& node) {
  const std::string& result = node.outputs.at(0);
  return model_.gains_ && is_moved_constant(graph_, node) && !graph_.is_pinned(result) &&
         std::ranges::all_of(graph_.readers(result), [](const Node* reader) {
           return precision_rule(*reader).kind == Narrowing::gains;
         });
}

std::string Narrower::OfGraph::narrow_operand(const std::string& name, const Node& before) {
  if (const TensorData* const tensor = graph_.constant(name))
    return model_.narrow_constant(graph_, name, *tensor);
  const auto found = narrow_.find(name);
  if (found != narrow_.end()) return found->second;
  Node cast = make_node("Cast", before.opset, {name},
                        {attribute("to", static_cast<std::int64_t>(model_.type_))});
  cast.outputs = {graph_.fresh(name)};
  return narrow_.emplace(name, graph_.insert(std::move(cast), before).outputs[0]).first->second;
}

/// The node gives way to one of 16 bits and, for each result, a Cast that writes it in f32.
void Narrower::OfGraph::replace(Node& node, const PrecisionRule& rule) {
  Node made = node;
  for (const std::size_t i : operands_of(node, rule))
    made.inputs[i] = narrow_operand(node.inputs[i], node);
  std::vector<Node> casts;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.has_output(i) || !rule.gives(i)) continue;
    made.outputs[i] = graph_.fresh(node.outputs[i]);
    narrow_[node.outputs[i]] = made.outputs[i];
    types_[node.outputs[i]] = ElementType::f32;
    types_[made.outputs[i]] = model_.type_;
    casts.push_back(make_node("Cast", node.opset, {made.outputs[i]},
                              {attribute("to", static_cast<std::int64_t>(ElementType::f32))}));
    casts.back().outputs = {node.outputs[i]};
  }
  // The node is gone before others write its results.
  Node& last = graph_.replace(node, std::move(casts.front()));
  last.name.clear();
  graph_.insert(std::move(made), last);
  casts_.push_back(&last);
  for (std::size_t i = 1; i < casts.size(); ++i)
    casts_.push_back(&graph_.insert(std::move(casts[i]), last));
  ++model_.report_.narrowed;
}

const std::string& Narrower::narrow_constant(GraphEditor& graph, const std::string& name,
                                             const TensorData& tensor) {
  for (const GraphEditor* const of : {static_cast<const GraphEditor*>(&graph), whole_})
    if (const auto found = constants_.find({of, &tensor}); found != constants_.end())
      if (found->second.empty() || graph.constant(found->second) != nullptr) return found->second;
  std::string& made = constants_[{&graph, &tensor}];
  const std::span<const std::byte> bytes = tensor.bytes.view;
  if (tensor.type != ElementType::f32 || bytes.size() != tensor.elements() * sizeof(float))
    return made;
  auto narrow = type_ == ElementType::f16 ? rounded<Half>(bytes) : rounded<BFloat16>(bytes);
  if (const files::ByteSource* const file = file_of(tensor.bytes))
    file->forget(static_cast<std::uint64_t>(bytes.data() - file->view().data()), bytes.size());
  if (!narrow) return made;
  ++report_.weights;
  report_.weight_bytes += narrow->size();
  made = graph.add_constant(name, {.type = type_,
                                   .dims = tensor.dims,
                                   .bytes = SharedBytes::own(std::move(*narrow)),
                                   .strings = {}});
  return made;
}

/// Constants of `graph` that products within its nodes read: once for all of them.
void Narrower::narrow_captured(GraphEditor& graph, const Graph& inner) {
  for (const Node& node : inner.nodes) {
    const PrecisionRule rule = precision_rule(node);
    const bool narrows = rule.kind == Narrowing::gains && gains_;
    for (std::size_t i = 0; narrows && i < node.inputs.size(); ++i)
      if (const TensorData* const tensor = graph.constant(node.inputs[i]);
          tensor != nullptr && rule.takes(i))
        narrow_constant(graph, node.inputs[i], *tensor);
    for (const Graph* const below : graphs_of(node)) narrow_captured(graph, *below);
  }
}

void Narrower::run(GraphEditor& graph) {
  if (!graph.is_body()) ++rounds_;
  if (rounds_ > 1) return;
  if (!graph.is_body()) whole_ = &graph;
  std::erase_if(constants_, [&](const auto& one) { return one.first.first == &graph; });
  OfGraph nodes{*this, graph};
  graph.each([&](Node& node) {
    for (const Graph* const inner : graphs_of(node)) narrow_captured(graph, *inner);
    nodes.take(node);
  });
  nodes.finish();
}

}  // namespace

Narrowed with_precision(const std::shared_ptr<const ModelFile>& file, Precision precision,
                        const OperatorTable& operators, Evaluate evaluate,
                        const DeviceInfo& device) {
  Narrower narrower{precision, device};
  const Pass pass{.name = "precision",
                  .summary = "f32 becomes narrower",
                  .run = [&](GraphEditor& graph) { narrower.run(graph); }};
  const Pass* const passes[] = {&pass};
  auto made = optimized(file, passes, operators, std::move(evaluate), device.type);
  PrecisionReport report = narrower.report();
  if (made == file) report.narrowed = report.weights = report.weight_bytes = 0;
  return {std::move(made), std::move(report)};
}

}  // namespace stoker::onnx
