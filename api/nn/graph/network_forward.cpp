// What a network computes: its steps one after the other, or in pieces whose gradients compute them
// again.
#include <algorithm>
#include <array>
#include <numeric>

#include "stoker/api/nn/graph/network_data.hpp"
#include "stoker/api/tensor/math/random.hpp"
#include "stoker/api/tensor/transforms/computed_after.hpp"
#include "stoker/api/tensor/transforms/custom_grad.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn {
namespace {

using detail::NetworkData;

void check_input(const Network::Input& input, const Tensor& given, std::int64_t& batch) {
  const auto refuse = [&](ErrorCode code, const std::string& got) {
    throw Error{"network",
                code,
                "input '" + input.name + "': expected " + std::string{to_string(input.row.dtype)} +
                    input.row.to_string() + ", got " + got,
                {{"input", input.name}, {"expected", input.row.to_string()}, {"got", got}}};
  };
  const std::string got = given.has_value() ? given.spec().to_string() : "nothing";
  if (!given.has_value() || given.rank() != input.row.shape.rank() + 1)
    refuse(ErrorCode::shape_mismatch, got);
  for (std::size_t axis = 0; axis < input.row.shape.rank(); ++axis)
    if (given.shape()[axis + 1] != input.row.shape[axis]) refuse(ErrorCode::shape_mismatch, got);
  const bool floats = is_float(given.dtype());
  if (floats != is_float(input.row.dtype)) refuse(ErrorCode::dtype_mismatch, got);
  if (batch < 0) batch = given.shape()[0];
  if (batch != given.shape()[0])
    refuse(ErrorCode::shape_mismatch, got + " beside a batch of " + std::to_string(batch));
}

[[noreturn]] void refuse_count(std::span<const Network::Input> inputs, std::size_t got) {
  const auto optional = std::ranges::count_if(inputs, &Network::Input::optional);
  const std::string expected =
      (optional > 0 ? std::to_string(inputs.size() - static_cast<std::size_t>(optional)) + " to "
                    : "") +
      std::to_string(inputs.size());
  throw Error{"network",
              ErrorCode::arity_mismatch,
              "expected " + expected + " inputs, got " + std::to_string(got),
              {{"expected", expected}, {"got", std::to_string(got)}}};
}

/// As Network::places_of().
std::vector<std::size_t> places_of(std::span<const Network::Input> inputs, std::size_t given) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].optional) places.push_back(i);
  if (places.size() == given) return places;
  if (given > inputs.size() ||
      !std::ranges::all_of(inputs.subspan(given), &Network::Input::optional))
    refuse_count(inputs, given);
  places.resize(given);
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

/// One for each input.
std::vector<Tensor> checked(std::span<const Network::Input> inputs, std::span<const Tensor> given) {
  const std::vector<std::size_t> places = places_of(inputs, given.size());
  std::vector<Tensor> all(inputs.size());
  for (std::size_t i = 0; i < given.size(); ++i) all[places[i]] = given[i];
  std::int64_t batch = -1;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (all[i].has_value() || !inputs[i].optional) check_input(inputs[i], all[i], batch);
  return all;
}

/// Of each step, whether its outputs are missing since inputs are.
std::vector<bool> missing_steps(const NetworkData& network, std::span<const Tensor> inputs) {
  std::vector<bool> missing(network.steps.size());
  const auto is_missing = [&](const NetworkData::Source& source) {
    return source.input ? !inputs[source.index].has_value() : bool{missing[source.index]};
  };
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const NetworkData::Step& step = network.steps[i];
    switch (network.layers[step.layer].definition().when_missing) {
      case WhenMissing::missing: missing[i] = std::ranges::any_of(step.inputs, is_missing); break;
      case WhenMissing::any: missing[i] = std::ranges::all_of(step.inputs, is_missing); break;
      case WhenMissing::computed: break;
    }
  }
  return missing;
}

/// What a forward pass is about; what is made on the way is beside it.
struct Pass {
  const NetworkData& network;
  const Variables& variables;
  std::span<const Tensor> inputs;
  bool training;
  Tensor key;
  const std::set<std::string>& frozen;  ///< layers that gradients are not asked for
  std::vector<bool> missing;            ///< steps
};

/// On the way: the outputs of the steps so far, and the states that changed.
struct Progress {
  std::vector<std::vector<Tensor>> made;  ///< of each step of the network; empty: not yet
  Variables states;
};

Variables variables_of(const Pass& pass, const LayerInfo& info, const Variables& states) {
  Variables own;
  for (const VariableSpec& variable : info.variables) {
    const std::string name = info.name + "." + variable.name;
    // A layer that is applied twice goes on with the state of the first time.
    const auto newer = states.find(name);
    const auto found = newer != states.end() ? newer : pass.variables.find(name);
    if (newer == states.end() && found == pass.variables.end())
      throw Error{"network",
                  ErrorCode::not_found,
                  "the variable '" + name + "' is missing",
                  {{"variable", name}}};
    own.emplace(variable.name, found->second);
  }
  return own;
}

/// As in Keras: a frozen layer that keeps states (batch_norm, instance_norm) uses those that it has, as
/// in inference. Else it would see numbers in training that it does not see afterwards.
bool trains(const Pass& pass, const LayerInfo& info) {
  if (!pass.training || !pass.frozen.contains(info.name)) return pass.training;
  return std::ranges::none_of(info.variables, [](const VariableSpec& variable) {
    return variable.kind == VariableKind::state;
  });
}

/// Steps [first, last).
void run_steps(const Pass& pass, std::size_t first, std::size_t last, Progress& progress) {
  const NetworkData& network = pass.network;
  for (std::size_t i = first; i < last; ++i) {
    const NetworkData::Step& step = network.steps[i];
    const LayerInfo& info = network.infos[step.layer];
    if (pass.missing[i]) {
      progress.made[i].resize(info.outputs.size());
      continue;
    }
    const std::vector<Tensor> given = NetworkData::gather(step, pass.inputs, progress.made);
    const Variables own = variables_of(pass, info, progress.states);
    try {
      LayerCall call{
          given, network.layers[step.layer].options(), own, trains(pass, info),
          pass.training ? random::fold_in(pass.key, static_cast<std::uint32_t>(i)) : pass.key};
      progress.made[i] = NetworkData::apply(network.layers[step.layer], call);
      for (const auto& [name, state] : call.new_states())
        progress.states.insert_or_assign(info.name + "." + name, state);
    } catch (const Error& error) {
      detail::rethrow_for(info.name, info.kind, error);
    }
  }
}

/// One output of a step.
struct Place {
  std::uint32_t step;
  std::uint32_t output;
  friend auto operator<=>(const Place&, const Place&) = default;
};

void put(std::vector<std::vector<Tensor>>& made, const Place& place, Tensor tensor) {
  std::vector<Tensor>& outputs = made[place.step];
  outputs.resize(std::max<std::size_t>(outputs.size(), place.output + 1));
  outputs[place.output] = std::move(tensor);
}

/// What steps [first, last) read of earlier ones, in order.
std::vector<Place> read_by(const NetworkData& network, std::size_t first, std::size_t last) {
  std::vector<Place> places;
  for (std::size_t i = first; i < last; ++i)
    for (const NetworkData::Source& source : network.steps[i].inputs)
      if (!source.input && source.index < first) places.push_back({source.index, source.output});
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  return places;
}

/// What of steps [first, last) is read later, or is an output of the network.
std::vector<Place> read_after(const NetworkData& network, std::size_t first, std::size_t last) {
  std::vector<Place> places = read_by(network, last, network.steps.size());
  for (const NetworkData::Source& source : network.outputs)
    if (!source.input) places.push_back({source.index, source.output});
  std::erase_if(places, [&](const Place& one) { return one.step < first || one.step >= last; });
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  return places;
}

struct Piece {
  std::vector<Tensor> outputs;
  Variables states;  ///< those that the piece changed
};
template <class V> void visit_tensors(Piece& piece, V&& visitor) {
  visitor(piece.outputs);
  visitor(piece.states);
}

Variables changed(const Variables& before, Variables after) {
  std::erase_if(after, [&](const auto& state) {
    const auto known = before.find(state.first);
    return known != before.end() && known->second.value().node() == state.second.value().node();
  });
  return after;
}

/// What a piece is differentiated by.
struct Given {
  std::vector<Tensor> tensors;  ///< of earlier pieces
  Variables parameters;         ///< of the piece
};
template <class V> void visit_tensors(Given& given, V&& visitor) {
  visitor(given.tensors);
  visitor(given.parameters);
}

/// The same, whose gradients reach earlier pieces when those by the parameters are there: before an
/// earlier piece is computed again, what this one was computed of is free.
Given in_turn(const Given& given) {
  const auto last = [](const Given&, const Given&, const Given& gradients) {
    Given made = gradients;
    // By themselves, not as a part of what the optimizer computes of them at the very end.
    for (auto& [name, one] : made.parameters) one = computed_after(one, std::array{one});
    const std::vector<Tensor> others = stoker::detail::tensors_of(gradients.parameters);
    for (Tensor& one : made.tensors) one = computed_after(one, others);
    return made;
  };
  return custom_grad([](const Given& same) { return same; }, last)(given);
}

/// Parameters of steps [first, last) that gradients are asked for.
Variables trained_by(const Pass& pass, std::size_t first, std::size_t last) {
  Variables found;
  for (std::size_t i = first; i < last; ++i) {
    const LayerInfo& info = pass.network.infos[pass.network.steps[i].layer];
    if (pass.frozen.contains(info.name)) continue;
    for (const VariableSpec& variable : info.variables) {
      const auto known = pass.variables.find(info.name + "." + variable.name);
      if (variable.kind == VariableKind::parameter && known != pass.variables.end())
        found.insert(*known);
    }
  }
  return found;
}

/// Steps [first, last), of which only what is read later is kept until the gradients are asked for.
void run_piece(const Pass& pass, std::size_t first, std::size_t last, Progress& progress) {
  const auto is_missing = [&](const Place& place) { return bool{pass.missing[place.step]}; };
  std::vector<Place> reads = read_by(pass.network, first, last);
  std::vector<Place> leaves = read_after(pass.network, first, last);
  std::erase_if(reads, is_missing);
  std::erase_if(leaves, is_missing);
  Given given{{}, trained_by(pass, first, last)};
  for (const Place& place : reads) given.tensors.push_back(progress.made[place.step][place.output]);
  if (!given.tensors.empty() && !given.parameters.empty()) given = in_turn(given);
  Variables variables = given.parameters;
  variables.insert(pass.variables.begin(), pass.variables.end());
  const Pass inside{pass.network, variables,   pass.inputs, pass.training,
                    pass.key,     pass.frozen, pass.missing};
  const auto piece = checkpoint([&](const std::vector<Tensor>& tensors) {
    Progress inner{std::vector<std::vector<Tensor>>(pass.network.steps.size()), progress.states};
    for (std::size_t i = 0; i < first; ++i)
      if (pass.missing[i]) inner.made[i] = progress.made[i];
    for (std::size_t i = 0; i < reads.size(); ++i) put(inner.made, reads[i], tensors[i]);
    run_steps(inside, first, last, inner);
    Piece made{{}, changed(progress.states, std::move(inner.states))};
    for (const Place& place : leaves) made.outputs.push_back(inner.made[place.step][place.output]);
    return made;
  });
  Piece made = piece(given.tensors);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    put(progress.made, leaves[i], std::move(made.outputs[i]));
  for (std::size_t i = first; i < last; ++i)
    if (pass.missing[i])
      progress.made[i].resize(pass.network.infos[pass.network.steps[i].layer].outputs.size());
  for (auto& [name, state] : made.states) progress.states.insert_or_assign(name, std::move(state));
}

}  // namespace

std::vector<std::size_t> Network::places_of(std::size_t given) const {
  return stoker::nn::places_of(data_->inputs, given);
}

std::vector<Tensor> Network::in_order(const Variables& inputs) const {
  std::vector<Tensor> made;
  std::vector<std::string_view> known;
  for (const Input& input : data_->inputs) {
    known.push_back(input.name);
    const auto found = inputs.find(input.name);
    if (found == inputs.end() && !input.optional)
      throw Error{"network",
                  ErrorCode::not_found,
                  "the input '" + input.name + "' is missing",
                  {{"input", input.name}}};
    made.push_back(found == inputs.end() ? Tensor{} : found->second);
  }
  for (const auto& [name, tensor] : inputs) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error{"network",
                ErrorCode::not_found,
                "there is no input '" + name + "'" + did_you_mean(name, known),
                {{"input", name}}};
  }
  return made;
}

Variables Network::by_name(std::span<const Tensor> inputs) const {
  const std::vector<std::size_t> places = places_of(inputs.size());
  Variables made;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].has_value()) made.emplace(data_->inputs[places[i]].name, inputs[i]);
  return made;
}

Network::Result Network::forward(const Variables& variables, std::span<const Tensor> inputs,
                                 Mode mode, const Tensor& key) const {
  return forward_in_pieces(0, {}, variables, inputs, mode, key);
}

Network::Result Network::forward_in_pieces(std::size_t pieces, const std::set<std::string>& frozen,
                                           const Variables& variables,
                                           std::span<const Tensor> given, Mode mode,
                                           const Tensor& key) const {
  const std::vector<Tensor> inputs = checked(data_->inputs, given);
  const Pass pass{*data_,
                  variables,
                  inputs,
                  mode == Mode::training,
                  key.has_value() ? key : random::key(0),
                  frozen,
                  missing_steps(*data_, inputs)};
  const std::size_t steps = data_->steps.size();
  Progress progress{std::vector<std::vector<Tensor>>(steps), {}};
  pieces = std::min(pieces, steps);
  if (pieces == 0) run_steps(pass, 0, steps, progress);
  for (std::size_t piece = 0; piece < pieces; ++piece)
    run_piece(pass, piece * steps / pieces, (piece + 1) * steps / pieces, progress);
  Result result{{}, std::move(progress.states)};
  for (const NetworkData::Source& output : data_->outputs)
    result.outputs.push_back(output.input ? inputs[output.index]
                                          : progress.made[output.index][output.output]);
  return result;
}

}  // namespace stoker::nn
