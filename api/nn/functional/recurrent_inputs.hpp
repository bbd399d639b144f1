// What recurrent layers take: their options, a sequence, perhaps initial states and a mask.
//
//     inputs: x [batch, time, …] [, state…] [, mask [batch, time], if the option `mask` is set]
//
// A state that is not given is a state variable of the layer, one row for all of the batch, drawn
// once by `recurrent_initializer` and never changed; of "zeros" it is no variable but zeros.
//
// Pure functions; any thread. Errors are thrown: arity_mismatch, shape_mismatch.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "stoker/api/nn/functional/recurrent_cells.hpp"
#include "stoker/api/nn/graph/layer.hpp"

namespace stoker::nn::layers {

/// units, activation, gate, unroll, reverse, mask, use_bias and the initializers.
[[nodiscard]] std::vector<ParamSpec> recurrent_options();

/// Which of the inputs there are.
struct RecurrentInputs {
  bool states = false;
  bool mask = false;
};
/// Of a layer that carries `states` states. Throws arity_mismatch.
[[nodiscard]] RecurrentInputs recurrent_inputs(const char* op, std::size_t inputs,
                                               std::size_t states, const ParamSet& options);

/// Refuses states that do not broadcast to [batch, …row] and a mask that does not fit.
void check_recurrent_inputs(const char* op, std::span<const TensorSpec> inputs, std::size_t states,
                            std::span<const std::int64_t> row, const ParamSet& options);

/// Declares the states that no input gives: of extent 1 along the batch.
void declare_states(std::vector<VariableSpec>& variables, std::initializer_list<const char*> names,
                    std::span<const std::int64_t> row, const ParamSet& options);

/// The initial state `name`, the k-th of `states`, as `shape`.
[[nodiscard]] Tensor initial_state(const LayerCall& call, const RecurrentInputs& given,
                                   std::size_t k, std::string_view name, const TensorSpec& spec);

[[nodiscard]] GateFunctions gate_functions(const ParamSet& options);

/// The layer's sequence of what the input adds to the gates, gone through as its options say.
template <class Cell, class State>
[[nodiscard]] Unrolled<State> unroll(const LayerCall& call, const RecurrentInputs& given,
                                     const Cell& cell, const Tensor& gates, const State& start) {
  const UnrollOptions how{given.mask ? call.inputs().back() : Tensor{},
                          call.options().flag("reverse")};
  return call.options().text("unroll") == "static" ? static_unroll(cell, gates, start, how)
                                                   : dynamic_unroll(cell, gates, start, how);
}

}  // namespace stoker::nn::layers
