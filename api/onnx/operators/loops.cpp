// Loops: the walk goes through their bodies round after round.
#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/loops/round_driver.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::loops {
namespace {

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

/// Inputs of the body: the round, the condition, the states. Outputs: the condition, the states, what is stacked.
Values loop_rule(Call& call) {
  const Graph& body = call.node().graph("body");
  const std::size_t count = call.count() > 2 ? call.count() - 2 : 0;
  if (body.inputs.size() != count + 2 || body.outputs.size() < count + 1)
    call.refuse(ErrorCode::arity_mismatch, "the body does not have the loop's states");
  // The standard says that a loop without a condition ignores the condition that its body computes. A loop that has no
  // number of rounds either would never end, so it obeys it.
  const bool asks = call.has(1) || !call.has(0);
  DrivenLoop loop{.body = body,
                  .has_condition = true,
                  .first_state = 2,
                  .most = call.has(0) ? call.integer(0) : std::numeric_limits<std::int64_t>::max(),
                  .goes_on = !call.has(1) || call.integer(1) != 0,
                  .asks = asks,
                  .is_counted = call.has(0) && (!asks || !condition_depends(body)),
                  .counts = reads(body, body.inputs[0].name),
                  .counter = body.inputs[0].name};
  loop.inputs = [](const Values& states, const Value& round) {
    Values inputs{round, Known::integer(1, ElementType::boolean)};
    inputs.insert(inputs.end(), states.begin(), states.end());
    return inputs;
  };
  const Axes growing = call.node().integers("growing", {});
  const Axes axes = call.node().integers("growing_axes", {});
  for (std::size_t i = 0; i < growing.size(); ++i)
    loop.growing.emplace(static_cast<std::size_t>(growing[i]), axes.at(i));
  Values states;
  for (std::size_t i = 0; i < count; ++i) {
    states.push_back(call.input(i + 2));
    if (!loop.growing.contains(i)) loop.deciding.emplace_back(body.inputs[i + 2].name);
  }
  if (loop.counts) loop.deciding.push_back(loop.counter);
  loop.outputs.resize(body.outputs.size() - count - 1);
  return driven(call, loop, states);
}

// Scan ----------------------------------------------------------------------------------------------

/// `at`: the position; the host knows it, unless the rounds are separated.
Value element_at(const Value& sequence, std::int64_t axis, const Value& at) {
  if (!at.is_known()) return {take(sequence.tensor(), at.tensor(), axis), sequence.type()};
  const std::int64_t position = at.known().to_integers().at(0);
  const Tensor one = slice_along_axis(sequence.tensor(), position, 1, axis);
  return {squeeze(one, Axes{axis}), sequence.type()};
}

/// Stands for an element of an empty sequence.
Value no_element(const Value& sequence, std::int64_t axis) {
  return {
      zeros(sequence.shape().without(static_cast<std::size_t>(axis)), sequence.tensor().dtype()),
      sequence.type()};
}

/// The position of the round's element in a sequence that is read from its end.
Value from_end(const Value& round, std::int64_t length) {
  if (round.is_known()) return Known::integer(length - 1 - round.known().to_integers().at(0));
  return {full(Shape{}, length - 1, DType::s64) - round.tensor(), ElementType::s64};
}

struct ScanAxes {
  Axes inputs, outputs;
  Axes inputs_reversed, outputs_reversed;
};

/// Inputs of the body: the states, the elements. Outputs: the states, what is stacked.
Values scanned(Call& call, const Graph& body, const Values& states,
               std::span<const Value> sequences, const ScanAxes& axes, std::int64_t length) {
  DrivenLoop loop{.body = body, .most = length, .is_counted = true, .counts = true};
  for (const ValueInfo& input : body.inputs) loop.deciding.emplace_back(input.name);
  loop.inputs = [&](const Values& now, const Value& round) {
    Values inputs = now;
    for (std::size_t i = 0; i < sequences.size(); ++i)
      inputs.push_back(
          length == 0 ? no_element(sequences[i], axes.inputs[i])
                      : element_at(sequences[i], axes.inputs[i],
                                   axes.inputs_reversed[i] != 0 ? from_end(round, length) : round));
    return inputs;
  };
  for (std::size_t i = 0; i < body.outputs.size() - states.size(); ++i)
    loop.outputs.push_back({.axis = axes.outputs[i], .reversed = axes.outputs_reversed[i] != 0});
  return driven(call, loop, states);
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
  const auto states_of = [states](const Values& values) {
    return Values{values.begin(), values.begin() + static_cast<std::ptrdiff_t>(states)};
  };
  if (!is_batched) {
    for (std::size_t i = 0; i < sequences; ++i)
      axes.inputs[i] =
          axis_in(axes.inputs[i], static_cast<std::int64_t>(given[states + i].shape().rank()));
    const std::int64_t length = given[states].shape()[static_cast<std::size_t>(axes.inputs[0])];
    return scanned(call, body, states_of(given), all.subspan(states), axes, length);
  }
  if (call.has(0)) call.refuse(ErrorCode::unsupported, "sequences of several lengths");
  const std::int64_t batch = given[0].shape()[0];
  if (batch == 0)
    call.refuse(ErrorCode::unsupported, "the shape of what no round gives is not known");
  std::vector<Values> results;
  for (std::int64_t at = 0; at < batch; ++at) {
    Values of_one;
    for (const Value& value : given)
      of_one.push_back(call.keep(element_at(value, 0, Known::integer(at))));
    const std::span<const Value> one{of_one};
    const std::int64_t length = of_one[states].shape()[0];
    results.push_back(scanned(call, body, states_of(of_one), one.subspan(states), axes, length));
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
  // What the pass growing_states makes of a Loop: states whose rounds give only what they append, and the axes.
  table.add(
      {.name = "GrowingLoop",
       .domain = "stoker",
       .since = {1},
       .least_inputs = 0,
       .most_inputs = Operator::any_number,
       .most_outputs = Operator::any_number,
       .types = {.operands = {index_types, ElementType::boolean, any_type}, .results = {OfBody{1}}},
       .attributes = {"body", "growing", "growing_axes"},
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

}  // namespace stoker::onnx::operators::loops
