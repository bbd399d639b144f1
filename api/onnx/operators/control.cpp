// Branches and loops: the walk goes through the graphs that are taken.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/pipeline/onnx/graph/shown.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"
#include "stoker/pipeline/tensor/graph/walk.hpp"

namespace stoker::onnx::operators::control {
namespace {

/// Rounds that are not parted are one program, which is too long with this many already.
constexpr std::size_t most_rounds = 1 << 16;

/// A loop of more nodes, those of each round counted, is parted where that takes no cut: into programs of so
/// many nodes, or rounds, that are fused into few kernels but soon made.
constexpr std::size_t most_nodes_together = 4096;
constexpr std::size_t nodes_of_part = 512;
constexpr std::size_t rounds_of_part = 64;

Value stacked_texts(const Call& call, const Values& rounds, std::int64_t axis) {
  std::vector<std::string> all;
  std::vector<Tensor> places;
  for (const Value& round : rounds) {
    const Value made = round.source() ? round.made_of(call.walker().know(*round.source())) : round;
    const Texts& texts = made.texts();
    std::vector<std::int64_t> of_round(texts.strings.size());
    std::iota(of_round.begin(), of_round.end(), static_cast<std::int64_t>(all.size()));
    all.insert(all.end(), texts.strings.begin(), texts.strings.end());
    places.push_back(Known::integers(of_round, texts.shape).tensor());
  }
  return Value::chosen_texts(std::move(all), call.walker().know(stack(places, axis)));
}

/// The outputs of all rounds, along a new axis. Precondition: there is a round.
Value stacked(const Call& call, const Values& rounds, std::int64_t axis = 0) {
  if (rounds[0].is_texts()) return stacked_texts(call, rounds, axis);
  std::vector<Tensor> tensors;
  for (const Value& round : rounds) tensors.push_back(round.tensor());
  return {stack(tensors, axis), rounds[0].type()};
}

std::size_t nodes_of(const Graph& graph) {
  std::size_t count = graph.nodes.size();
  for (const Node& node : graph.nodes)
    for (const Graph* below : graphs_of(node)) count += nodes_of(*below);
  return count;
}

/// Both branches of an If are computed, and the device chooses, where that takes less time than the cut that asks the
/// condition: 5 µs on a CPU, 50 µs on a GPU. Elements that kernels read and write.
constexpr std::size_t most_nodes_of_branches = 32;
constexpr std::uint64_t most_elements_on_cpu = std::uint64_t{1} << 12;
constexpr std::uint64_t most_elements_on_gpu = std::uint64_t{1} << 17;

/// Whether nodes after `mark`, on which the tensors stand, are few elements of kernels that never fail.
bool are_cheap(std::span<const Tensor> tensors, std::uint64_t mark) {
  const std::uint64_t most =
      current_device().info().type == DeviceType::cpu ? most_elements_on_cpu : most_elements_on_gpu;
  std::vector<expr::Value> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
  std::uint64_t elements = 0;
  bool has_host_steps = false;
  expr::walk(
      values, [&](const expr::Node& node) { return node.serial() <= mark; },
      [&](const std::shared_ptr<expr::Node>& node, const expr::Values& inputs) {
        const expr::OpKind kind = node->op().kind;
        if (node->serial() <= mark || node->is_known()) return;
        has_host_steps |= kind == expr::OpKind::host;
        if (kind != expr::OpKind::scalar && kind != expr::OpKind::kernel) return;
        for (const TensorSpec& spec : node->specs()) elements += spec.elements();
        for (const expr::Value& input : inputs) elements += input.spec().elements();
      });
  return !has_host_steps && elements <= most;
}

/// What both branches give, chosen by the device; nothing if the condition is to be asked.
std::optional<Values> chosen_on_device(Call& call) {
  const Graph& yes = call.node().graph("then_branch");
  const Graph& no = call.node().graph("else_branch");
  if (!call.walker().takes_cut(call.input(0)) || call.shape(0).elements() != 1 ||
      yes.outputs.size() != no.outputs.size() ||
      nodes_of(yes) + nodes_of(no) > most_nodes_of_branches)
    return {};
  const std::uint64_t mark = expr::Node::next_serial();
  const std::optional<Values> some = call.walker().run_without_cut(yes, {});
  if (!some) return {};
  const std::optional<Values> others = call.walker().run_without_cut(no, {});
  if (!others) return {};
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < some->size(); ++i)
    for (const Value* value : {&(*some)[i], &(*others)[i]}) {
      const Value& like = (*some)[i];
      // Integers that the host knows are shapes, axes or positions, which it is to know.
      if (!value->is_tensor() || value->type() != like.type() || value->shape() != like.shape() ||
          (value->is_known() && value->known().holds_integers()))
        return {};
      tensors.push_back(value->tensor());
    }
  if (!are_cheap(tensors, mark)) return {};
  const Tensor condition = not_equal(reshape(call.x(0), Shape{}), 0);
  Values chosen;
  for (std::size_t i = 0; i < some->size(); ++i)
    chosen.emplace_back(select(condition, tensors[2 * i], tensors[2 * i + 1]), (*some)[i].type());
  return chosen;
}

Values if_rule(Call& call) {
  if (std::optional<Values> chosen = chosen_on_device(call)) return *std::move(chosen);
  const bool condition = call.integer(0) != 0;
  const Graph& branch = call.node().graph(condition ? "then_branch" : "else_branch");
  return call.walker().run(branch, {});
}

/// The stacked outputs of a loop that runs no round.
class NoRounds {
 public:
  /// `inputs` are what a round would read.
  NoRounds(const Call& call, const Graph& body, Values inputs)
      : call_{call}, body_{body}, inputs_{std::move(inputs)} {}

  /// An empty tensor, or no texts, with the element type and the extents that the body declares for this output;
  /// unknown extents are 0. What the body does not declare is taken from a round that is traced for this. If that needs
  /// a cut or is refused, the shape is [0], as in ONNX Runtime.
  [[nodiscard]] Value stacked(std::size_t output, std::int64_t axis = 0) {
    const ValueType& declared = body_.outputs[output].type;
    ElementType type = declared.element;
    std::optional<Axes> extents;
    if (declared.dims) {
      extents.emplace();
      for (const Dimension& dim : *declared.dims) extents->push_back(dim.extent.value_or(0));
    }
    const bool knows_type = carrier_of(type) || type == ElementType::string;
    if (const Value* const round = extents && knows_type ? nullptr : of_round(output)) {
      if (!knows_type) type = round->type();
      if (!extents) extents = extents_of(round->shape());
    }
    const auto carrier = carrier_of(type);
    if (!carrier && type != ElementType::string)
      call_.refuse(ErrorCode::unsupported, "the type of what no round gives is not known");
    const std::int64_t rank = extents ? static_cast<std::int64_t>(extents->size()) : 0;
    Axes all = extents.value_or(Axes{});
    all.insert(all.begin() + (extents ? axis_in(axis, rank + 1) : 0), 0);
    const Result<Shape> shape = Shape::try_make(all);
    if (!shape)
      call_.refuse(ErrorCode::unsupported, "what no round gives for output " +
                                               in_quotes(body_.outputs[output].name) +
                                               " cannot have the extents that the body declares: " +
                                               std::string{shape.error().reason()});
    if (type == ElementType::string) return Texts{*shape, {}};
    return {zeros(*shape, *carrier), type};
  }

 private:
  /// Null if a round needs a cut, is refused, or gives no tensor there.
  [[nodiscard]] const Value* of_round(std::size_t output) {
    if (!round_) round_ = call_.walker().run_without_cut(body_, inputs_).value_or(Values{});
    if (output >= round_->size()) return nullptr;
    const Value& given = (*round_)[output];
    return given.is_tensor() || given.is_texts() ? &given : nullptr;
  }

  const Call& call_;
  const Graph& body_;
  const Values inputs_;
  std::optional<Values> round_;
};

/// Whether a graph, or one below it, reads a name.
bool reads(const Graph& graph, std::string_view name) {
  const auto is_it = [&](const auto& value) { return value.name == name; };
  return std::ranges::any_of(graph.outputs, is_it) ||
         std::ranges::any_of(graph.nodes, [&](const Node& node) {
           return std::ranges::find(node.inputs, name) != node.inputs.end() ||
                  std::ranges::any_of(graphs_of(node),
                                      [&](const Graph* below) { return reads(*below, name); });
         });
}

/// Adds the names that a node reads, or graphs below it.
void add_read(const Node& node, std::unordered_set<std::string_view>& names) {
  names.insert(node.inputs.begin(), node.inputs.end());
  for (const Graph* below : graphs_of(node)) {
    for (const Node& inner : below->nodes) add_read(inner, names);
    for (const ValueInfo& output : below->outputs) names.insert(output.name);
  }
}

/// Whether the condition that the body gives is made of its states or of the round.
bool condition_depends(const Graph& body) {
  std::unordered_set<std::string_view> names{body.outputs[0].name};
  for (auto node = body.nodes.rbegin(); node != body.nodes.rend(); ++node)
    if (std::ranges::any_of(node->outputs, [&](const auto& name) { return names.contains(name); }))
      add_read(*node, names);
  for (std::size_t i = 0; i < body.inputs.size(); ++i)
    if (i != 1 && names.contains(body.inputs[i].name)) return true;
  return false;
}

/// How many of `rounds` rounds are traced together behind the first ones; 0: all.
std::size_t rounds_together(const Graph& body, std::int64_t rounds) {
  const std::size_t nodes = std::max<std::size_t>(nodes_of(body), 1);
  if (rounds <= 0 || static_cast<std::size_t>(rounds) <= most_nodes_together / nodes) return 0;
  return std::clamp<std::size_t>(nodes_of_part / nodes, 1, rounds_of_part);
}

/// Whether rounds that start from one of these have the same program, but for what the host knows.
bool are_alike(const Values& some, const Values& others) {
  return std::ranges::equal(some, others, [](const Value& one, const Value& other) {
    return one.is_tensor() && other.is_tensor() && one.type() == other.type() &&
           one.shape() == other.shape();
  });
}

Value after_round(const Value& round) {
  if (round.is_known()) return Known::integer(round.known().to_integers().at(0) + 1);
  return {round.tensor() + full(Shape{}, 1, DType::s64), ElementType::s64};
}

/// Inputs of the body: the round, the condition, the states. Outputs: the condition, the states, what is stacked.
Values loop_rule(Call& call) {
  const Graph& body = call.node().graph("body");
  const std::size_t states = call.count() > 2 ? call.count() - 2 : 0;
  if (body.inputs.size() != states + 2 || body.outputs.size() < states + 1)
    call.refuse(ErrorCode::arity_mismatch, "the body does not have the loop's states");
  const std::size_t scans = body.outputs.size() - states - 1;
  const std::int64_t most =
      call.has(0) ? call.integer(0) : std::numeric_limits<std::int64_t>::max();
  // The standard says that a loop without a condition ignores the condition that its body computes. A loop that has no
  // number of rounds either would never end, so it obeys it.
  const bool asks = call.has(1) || !call.has(0);
  LoopState now{.goes_on = (!call.has(1) || call.integer(1) != 0) && most > 0};
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < states; ++i) {
    now.states.push_back(call.input(i + 2));
    names.emplace_back(body.inputs[i + 2].name);
  }
  // The round is a state that the loop itself counts.
  const bool counts = reads(body, body.inputs[0].name);
  if (counts) {
    now.states.emplace_back(Known::integer(0));
    names.emplace_back(body.inputs[0].name);
  }

  const auto inputs_of = [&](const LoopState& state) {
    Values inputs{counts ? state.states[states] : Value{}, Known::integer(1, ElementType::boolean)};
    inputs.insert(inputs.end(), state.states.begin(), state.states.begin() + states);
    return inputs;
  };

  const std::unique_ptr<Rounds> rounds = call.walker().rounds(most);
  // The first part has what is left over, too, so that whole parts follow.
  const bool is_counted = call.has(0) && (!asks || !condition_depends(body));
  std::size_t part = is_counted && rounds->may_part(names) ? rounds_together(body, most) : 0;
  if (part > 0) now.together = part + static_cast<std::size_t>(most) % part;
  bool is_parted = false;
  if (auto place = rounds->resumed()) {
    now = *std::move(place);
    is_parted = true;
  }
  std::vector<Values> given;  // of the rounds since some were parted
  while (now.goes_on) {
    if (given.size() == most_rounds)
      call.refuse(ErrorCode::limit_exceeded,
                  "more than " + std::to_string(most_rounds) + " rounds");
    Values next = call.walker().run(body, inputs_of(now));
    for (Value& one : next) one = call.keep(std::move(one));
    const Value goes_on = asks ? next[0] : Value{Known::integer(1, ElementType::boolean)};
    const auto results = next.begin() + 1;
    given.emplace_back(results + states, next.end());
    Values after{results, results + states};
    if (counts) after.push_back(call.keep(after_round(now.states[states])));

    const bool is_cut = rounds->must_part(goes_on);
    bool parts = is_cut || given.size() == now.together;
    const bool gives_texts = std::ranges::any_of(given.back(), &Value::is_texts);
    if (!is_cut && parts && !is_parted && (gives_texts || !are_alike(now.states, after))) {
      // Each part would be a plan of its own, and texts are no tensors to hand over.
      parts = false;
      now.together = part = 0;
    }
    bool known_goes_on = true;
    if (!is_cut) {
      known_goes_on = call.walker().know(goes_on).to_integers().at(0) != 0;
      parts |= is_parted && !known_goes_on;
    }
    if (parts && gives_texts)
      call.refuse(ErrorCode::unsupported, "it stacks texts of rounds that a cut separates");
    if (parts) {
      // Once a cut has parted a round from the next, what is left may not be whole parts.
      const bool one_by_one = is_cut || part == 0 || (is_parted && now.together == 1);
      now = rounds->part({.goes_on = goes_on,
                          .before = std::move(now.states),
                          .after = std::move(after),
                          .names = names,
                          .given = std::exchange(given, {}),
                          .together = one_by_one ? 1 : part});
      is_parted = true;
    } else {
      now.states = std::move(after);
      now.goes_on = known_goes_on && (is_parted || static_cast<std::int64_t>(given.size()) < most);
    }
  }
  Values results{now.states.begin(), now.states.begin() + states};
  NoRounds none{call, body, inputs_of(now)};
  for (std::size_t i = 0; i < scans; ++i) {
    if (!now.given.empty()) {
      results.push_back(now.given[i]);
      continue;
    }
    Values each;
    for (const Values& round : given) each.push_back(round[i]);
    results.push_back(each.empty() ? none.stacked(i + 1 + states) : stacked(call, each));
  }
  return results;
}

// Scan ----------------------------------------------------------------------------------------------

Value element_at(const Value& sequence, std::int64_t axis, std::int64_t at) {
  const Tensor one = slice_along_axis(sequence.tensor(), at, 1, axis);
  return {squeeze(one, Axes{axis}), sequence.type()};
}

/// Stands for an element of an empty sequence.
Value no_element(const Value& sequence, std::int64_t axis) {
  return {
      zeros(sequence.shape().without(static_cast<std::size_t>(axis)), sequence.tensor().dtype()),
      sequence.type()};
}

struct ScanAxes {
  Axes inputs, outputs;
  Axes inputs_reversed, outputs_reversed;
};

Values scanned(Call& call, const Graph& body, std::span<const Value> states,
               std::span<const Value> sequences, const ScanAxes& axes, std::int64_t length) {
  const std::size_t scans = body.outputs.size() - states.size();
  Values now{states.begin(), states.end()};
  std::vector<Values> rounds(scans);
  for (std::int64_t round = 0; round < length; ++round) {
    Values inputs = now;
    for (std::size_t i = 0; i < sequences.size(); ++i)
      inputs.push_back(element_at(sequences[i], axes.inputs[i],
                                  axes.inputs_reversed[i] ? length - 1 - round : round));
    Values next = call.walker().run(body, inputs);
    for (Value& one : next) one = call.keep(std::move(one));
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = next[i];
    for (std::size_t i = 0; i < scans; ++i) rounds[i].push_back(next[i + now.size()]);
  }
  if (length == 0) {
    Values inputs = now;
    for (std::size_t i = 0; i < sequences.size(); ++i)
      inputs.push_back(no_element(sequences[i], axes.inputs[i]));
    NoRounds none{call, body, std::move(inputs)};
    for (std::size_t i = 0; i < scans; ++i)
      now.push_back(none.stacked(i + states.size(), axes.outputs[i]));
    return now;
  }
  for (std::size_t i = 0; i < scans; ++i) {
    if (axes.outputs_reversed[i]) std::reverse(rounds[i].begin(), rounds[i].end());
    const std::int64_t rank = static_cast<std::int64_t>(rounds[i][0].shape().rank()) + 1;
    now.push_back(stacked(call, rounds[i], axis_in(axes.outputs[i], rank)));
  }
  return now;
}

Values scan_rule(Call& call) {
  const Graph& body = call.node().graph("body");
  const auto sequences = static_cast<std::size_t>(call.node().integer("num_scan_inputs"));
  const bool is_batched = call.version() < 9;
  const std::size_t first = is_batched ? 1 : 0;  // version 8 has the lengths first
  if (sequences == 0 || call.count() < sequences + first)
    call.refuse(ErrorCode::invalid_parameter, "num_scan_inputs does not fit the operands");
  const std::size_t states = call.count() - first - sequences;
  if (body.outputs.size() < states)
    call.refuse(ErrorCode::arity_mismatch, "the body does not have the scan's states");
  const std::size_t scans = body.outputs.size() - states;
  ScanAxes axes{.inputs = call.node().integers("scan_input_axes", Axes(sequences, 0)),
                .outputs = call.node().integers("scan_output_axes", Axes(scans, 0)),
                .inputs_reversed = call.node().integers(
                    is_batched ? "directions" : "scan_input_directions", Axes(sequences, 0)),
                .outputs_reversed = call.node().integers("scan_output_directions", Axes(scans, 0))};
  if (axes.inputs.size() != sequences || axes.inputs_reversed.size() != sequences ||
      axes.outputs.size() != scans || axes.outputs_reversed.size() != scans)
    call.refuse(ErrorCode::invalid_parameter, "axes and directions do not fit the operands");
  Values given;
  for (std::size_t i = first; i < call.count(); ++i) given.push_back(call.input(i));
  const std::span<const Value> all{given};
  if (!is_batched) {
    for (std::size_t i = 0; i < sequences; ++i)
      axes.inputs[i] =
          axis_in(axes.inputs[i], static_cast<std::int64_t>(given[states + i].shape().rank()));
    const std::int64_t length = given[states].shape()[static_cast<std::size_t>(axes.inputs[0])];
    return scanned(call, body, all.first(states), all.subspan(states), axes, length);
  }
  if (call.has(0)) call.refuse(ErrorCode::unsupported, "sequences of several lengths");
  const std::int64_t batch = given[0].shape()[0];
  if (batch == 0)
    call.refuse(ErrorCode::unsupported, "the shape of what no round gives is not known");
  std::vector<Values> results;
  for (std::int64_t at = 0; at < batch; ++at) {
    Values of_one;
    for (const Value& value : given) of_one.push_back(call.keep(element_at(value, 0, at)));
    const std::span<const Value> one{of_one};
    const std::int64_t length = of_one[states].shape()[0];
    results.push_back(scanned(call, body, one.first(states), one.subspan(states), axes, length));
    for (Value& value : results.back()) value = call.keep(std::move(value));
  }
  Values joined;
  for (std::size_t i = 0; i < body.outputs.size(); ++i) {
    Values each;
    for (const Values& result : results) each.push_back(result[i]);
    joined.push_back(stacked(call, each));
  }
  return joined;
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "If",
             .since = {1, 11, 13, 16, 19, 21, 23, 24, 25},
             .most_outputs = Operator::any_number,
             .types = {.operands = {ElementType::boolean}, .results = {OfBody{}}},
             .attributes = {"then_branch", "else_branch"},
             .decides = {0},
             .lower = &if_rule});
  table.add(
      {.name = "Loop",
       .since = {1, 11, 13, 16, 19, 21, 23, 24, 25},
       .least_inputs = 0,
       .most_inputs = Operator::any_number,
       .most_outputs = Operator::any_number,
       .types = {.operands = {index_types, ElementType::boolean, any_type}, .results = {OfBody{1}}},
       .attributes = {"body"},
       .decides = {0, 1},
       .lower = &loop_rule});
  table.add({.name = "Scan",
             .since = {8, 9, 11, 16, 19, 21, 23, 24, 25},
             .most_inputs = Operator::any_number,
             .most_outputs = Operator::any_number,
             .types = {.operands = {any_type}, .results = {OfBody{}}},
             .attributes = {"body", "num_scan_inputs", "directions", "scan_input_axes",
                            "scan_input_directions", "scan_output_axes", "scan_output_directions"},
             .lower = &scan_rule});
}

}  // namespace stoker::onnx::operators::control
