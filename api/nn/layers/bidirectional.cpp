#include "stoker/api/nn/layers/bidirectional.hpp"

#include "stoker/api/nn/graph/layer_kinds.hpp"
#include "stoker/api/nn/layers/recurrent.hpp"

namespace stoker::nn::layers::bidirectional {
namespace {

constexpr const char* name = Bidirectional::kind;
constexpr const char* forward = "forward_";
constexpr const char* backward = "backward_";

const LayerDefinition& cell_of(const Bidirectional& options) {
  return layer_kind(options.cell == Cell::lstm ? Lstm::kind : Gru::kind);
}

/// Of the wrapped layer, which goes one way. All of ours that it has, also those that are our defaults: its own may be
/// others.
ParamSet options_of(const Bidirectional& ours, bool reverse) {
  const LayerDefinition& cell = cell_of(ours);
  Params given;
  const Params all = options::all(ours);
  for (const Params::Entry& option : all.entries())
    if (std::ranges::find(cell.options, option.name, &ParamSpec::name) != cell.options.end())
      given.set(option.name, option.value);
  given.set("reverse", reverse);
  return ParamSet::resolve(cell.name, cell.options, given).value();
}

/// The inputs of one way. Throws arity_mismatch.
template <class T>
std::vector<T> inputs_of(std::span<const T> inputs, const Bidirectional& options, bool reverse) {
  const std::size_t mask = options.padding_mask ? 1 : 0;
  const std::size_t states = cell_of(options).outputs - 1;
  const std::size_t given = inputs.size() - 1;
  if (given != mask && given != mask + 2 * states)
    throw Error{name,
                ErrorCode::arity_mismatch,
                "expected a sequence, or one and " + std::to_string(states) +
                    " states for each way" + (mask != 0 ? ", and a padding mask" : "") + "; got " +
                    std::to_string(inputs.size()) + " inputs",
                {{"got", std::to_string(inputs.size())}, {"states", std::to_string(2 * states)}}};
  std::vector<T> all{inputs[0]};
  if (given > mask)
    for (std::size_t k = 0; k < states; ++k) all.push_back(inputs[1 + k + (reverse ? states : 0)]);
  if (mask != 0) all.push_back(inputs.back());
  return all;
}

std::vector<VariableSpec> variables_of_way(std::span<const TensorSpec> inputs,
                                           const Bidirectional& options, bool reverse) {
  return cell_of(options).variables(inputs_of(inputs, options, reverse),
                                    options_of(options, reverse));
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs,
                                    const Bidirectional& options) {
  std::vector<VariableSpec> there = variables_of_way(inputs, options, false);
  std::vector<VariableSpec> back = variables_of_way(inputs, options, true);
  if (options.shared_weights) return there;
  for (VariableSpec& one : there) one.name.insert(0, forward);
  for (VariableSpec& one : back) one.name.insert(0, backward);
  there.insert(there.end(), back.begin(), back.end());
  return there;
}

std::vector<Tensor> outputs_of_way(const LayerCall& call, const Bidirectional& options,
                                   bool reverse) {
  const ParamSet of_way = options_of(options, reverse);
  const std::vector<Tensor> inputs = inputs_of(call.inputs(), options, reverse);
  std::vector<TensorSpec> specs;
  for (const Tensor& input : inputs) specs.push_back(input.spec());
  const std::vector<VariableSpec> declared = cell_of(options).variables(specs, of_way);
  const bool shared = options.shared_weights;
  Variables own;
  for (const VariableSpec& one : declared)
    own.emplace(one.name,
                call.variable(shared ? one.name : (reverse ? backward : forward) + one.name));
  LayerCall way{inputs, of_way, own, call.training(), call.key()};
  return cell_of(options).apply(way);
}

Tensor merged(Merge how, const Tensor& there, const Tensor& back) {
  switch (how) {
    case Merge::concatenate: return stoker::concatenate({there, back}, -1);
    case Merge::add: return there + back;
    case Merge::multiply: return there * back;
    case Merge::average: break;
  }
  return (there + back) * 0.5;
}

std::vector<Tensor> apply(LayerCall& call, const Bidirectional& options) {
  const std::vector<Tensor> there = outputs_of_way(call, options, false);
  const std::vector<Tensor> back = outputs_of_way(call, options, true);
  std::vector<Tensor> both;
  for (std::size_t k = 0; k < there.size(); ++k)
    both.push_back(merged(options.merge, there[k], back[k]));
  return both;
}

}  // namespace

void define(LayerTable& table) {
  table.add<Bidirectional>(
      {.summary =
           "an lstm or gru in both directions, with merged results: {sequence, final states}",
       .most_inputs = 6,
       .variables = &variables,
       .apply = &apply,
       .count_outputs = [](const Bidirectional& options) { return cell_of(options).outputs; },
       .earlier_names = earlier_recurrent_names()});
}

}  // namespace stoker::nn::layers::bidirectional
