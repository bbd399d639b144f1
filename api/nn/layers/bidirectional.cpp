// A recurrent layer once from the first step to the last and once from the last to the first, and
// both merged.
//
//     inputs: x [batch, time, features] [, forward state…, backward state…] [, mask]
//     {sequence, final state…}, as lstm and gru give them, each merged:
//
// Merging by concatenate puts both side by side along the last axis; add, multiply and average keep
// the extent.
//
// Both sequences are in the order of time before they are merged. A final state is that of the last
// step of its way: of the backward one, the first in time. Each way has variables of its own,
// "forward_input_kernel" and so on; with shared_weights (what Axon does) both have one set.
#include "stoker/api/nn/functional/recurrent_inputs.hpp"

namespace stoker::nn::layers::bidirectional {
namespace {

constexpr const char* name = "bidirectional";
constexpr const char* forward = "forward_";
constexpr const char* backward = "backward_";

const LayerDefinition& cell_of(const ParamSet& options) {
  return layer_table().find(options.text("cell"));
}

/// Of the wrapped layer, which goes one way.
ParamSet options_of(const ParamSet& ours, bool reverse) {
  const LayerDefinition& cell = cell_of(ours);
  Params given;
  for (std::size_t i = 0; i < ours.schema().size(); ++i) {
    const std::string& option = ours.schema()[i].name;
    for (const ParamSpec& its : cell.options)
      if (its.name == option) given.set(option, ours.values()[i]);
  }
  given.set("reverse", reverse);
  return ParamSet::resolve(cell.name, cell.options, given).value();
}

/// The inputs of one way. Throws arity_mismatch.
template <class T>
std::vector<T> inputs_of(std::span<const T> inputs, const ParamSet& options, bool reverse) {
  const std::size_t mask = options.flag("mask") ? 1 : 0;
  const std::size_t states = cell_of(options).outputs - 1;
  const std::size_t given = inputs.size() - 1;
  if (given != mask && given != mask + 2 * states)
    throw Error{name,
                ErrorCode::arity_mismatch,
                "expected a sequence, or one and " + std::to_string(states) +
                    " states for each way" + (mask != 0 ? ", and a mask" : "") + "; got " +
                    std::to_string(inputs.size()) + " inputs",
                {{"got", std::to_string(inputs.size())}, {"states", std::to_string(2 * states)}}};
  std::vector<T> all{inputs[0]};
  if (given > mask)
    for (std::size_t k = 0; k < states; ++k) all.push_back(inputs[1 + k + (reverse ? states : 0)]);
  if (mask != 0) all.push_back(inputs.back());
  return all;
}

std::vector<VariableSpec> variables_of_way(std::span<const TensorSpec> inputs,
                                           const ParamSet& options, bool reverse) {
  return cell_of(options).variables(inputs_of(inputs, options, reverse),
                                    options_of(options, reverse));
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const ParamSet& options) {
  std::vector<VariableSpec> there = variables_of_way(inputs, options, false);
  std::vector<VariableSpec> back = variables_of_way(inputs, options, true);
  if (options.flag("shared_weights")) return there;
  for (VariableSpec& one : there) one.name.insert(0, forward);
  for (VariableSpec& one : back) one.name.insert(0, backward);
  there.insert(there.end(), back.begin(), back.end());
  return there;
}

std::vector<Tensor> outputs_of_way(const LayerCall& call, bool reverse) {
  const ParamSet options = options_of(call.options(), reverse);
  const std::vector<Tensor> inputs = inputs_of(call.inputs(), call.options(), reverse);
  std::vector<TensorSpec> specs;
  for (const Tensor& input : inputs) specs.push_back(input.spec());
  const std::vector<VariableSpec> declared = cell_of(call.options()).variables(specs, options);
  const bool shared = call.options().flag("shared_weights");
  Variables own;
  for (const VariableSpec& one : declared)
    own.emplace(one.name,
                call.variable(shared ? one.name : (reverse ? backward : forward) + one.name));
  LayerCall way{inputs, options, own, call.training(), call.key()};
  return cell_of(call.options()).apply(way);
}

Tensor merged(const std::string& how, const Tensor& there, const Tensor& back) {
  if (how == "concatenate") return stoker::concatenate({there, back}, -1);
  if (how == "multiply") return there * back;
  return how == "add" ? there + back : (there + back) * 0.5;
}

std::vector<Tensor> apply(LayerCall& call) {
  const std::vector<Tensor> there = outputs_of_way(call, false);
  const std::vector<Tensor> back = outputs_of_way(call, true);
  std::vector<Tensor> both;
  for (std::size_t k = 0; k < there.size(); ++k)
    both.push_back(merged(call.options().text("merge"), there[k], back[k]));
  return both;
}

}  // namespace

void define(LayerTable& table) {
  std::vector<ParamSpec> options{{.name = "cell",
                                  .type = ParamType::text,
                                  .fallback = std::string{"lstm"},
                                  .doc = "the layer that goes both ways",
                                  .choices = {"lstm", "gru"}},
                                 {.name = "merge",
                                  .type = ParamType::text,
                                  .fallback = std::string{"concatenate"},
                                  .doc = "what becomes of both ways' results",
                                  .choices = {"concatenate", "add", "multiply", "average"}},
                                 {.name = "shared_weights",
                                  .type = ParamType::boolean,
                                  .fallback = false,
                                  .doc = "both ways have one set of variables"}};
  std::vector<ParamSpec> of_cells = recurrent_options();
  for (ParamSpec& one : of_cells)
    if (one.name != "reverse") options.push_back(std::move(one));
  table.add({.name = name,
             .summary = "lstm or gru both ways, merged: {sequence, final states}",
             .options = std::move(options),
             .most_inputs = 6,
             .variables = &variables,
             .apply = &apply,
             .count_outputs = [](const ParamSet& given) { return cell_of(given).outputs; }});
}

}  // namespace stoker::nn::layers::bidirectional
