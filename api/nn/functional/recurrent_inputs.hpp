// The options and inputs of recurrent layers: a sequence, and optionally initial states and a
// padding mask.
//
//     inputs: x [batch, time, …] [, state…] [, padding mask [batch, time]]
//
// The mask is there if the option `padding_mask` is set. It is not 0 where a step is padding: state and
// output then stay as they are. (Attention's `mask` selects what takes part.)
//
// An initial state that is not given is a state variable of the layer: one row for the whole batch,
// drawn once by `recurrent_initializer` and never changed. With "zeros" there is no variable.
//
// Pure functions; any thread. Errors are thrown: arity_mismatch, shape_mismatch.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/nn/functional/recurrent_cells.hpp"
#include "stoker/api/nn/graph/layer_options.hpp"

namespace stoker::nn::layers {

/// How steps are unrolled: as a loop, or every step traced separately.
enum class Unroll : std::uint8_t { dynamic, written_out };

/// units, activation, gate, unroll, reverse if O has it, padding_mask, use_bias and the initializers.
template <class O, class V> void visit_recurrent(O& o, V&& visit) {
  visit_units(o, visit);
  visit_activation(o, visit);
  visit("gate", o.gate, anything, "activation function of the gates");
  visit("unroll", o.unroll,
        one_of<Unroll>({{"dynamic", Unroll::dynamic}, {"static", Unroll::written_out}}),
        "dynamic: a loop over steps; static: a copy of the graph for each step");
  if constexpr (requires { o.reverse; })
    visit("reverse", o.reverse, anything,
          "goes from the last step to the first; results keep the order of the input");
  visit("padding_mask", o.padding_mask, anything,
        "the last input is a mask of padding; where it is not 0 the state does not change");
  visit_kernel(o, visit);
  visit("recurrent_initializer", o.recurrent_initializer, anything,
        "initial values of states that are no inputs; with zeros the states are no variables");
}

/// Which optional inputs are given.
struct RecurrentInputs {
  bool states = false;
  bool padding_mask = false;
};
/// Determines this from the number of inputs of a layer with `states` states. Throws
/// arity_mismatch.
[[nodiscard]] RecurrentInputs recurrent_inputs(const char* op, std::size_t inputs,
                                               std::size_t states, bool padding_mask);

/// Throws shape_mismatch for states that do not broadcast to [batch, …row] and for a padding mask that does
/// not fit.
void check_recurrent_inputs(const char* op, std::span<const TensorSpec> inputs, std::size_t states,
                            std::span<const std::int64_t> row, bool padding_mask);

/// `mask` became `padding_mask`, because attention's marks the opposite. For KindOf::earlier_names.
[[nodiscard]] inline std::map<std::string, std::string> earlier_recurrent_names() {
  return {{"mask", "padding_mask"}};
}

/// Declares variables for the states that no input gives, with extent 1 along the batch.
void declare_states(std::vector<VariableSpec>& variables, std::initializer_list<const char*> names,
                    std::span<const std::int64_t> row, const Named& initializer);

/// The initial state `name`, the k-th one, in the spec's shape and dtype.
[[nodiscard]] Tensor initial_state(const LayerCall& call, const RecurrentInputs& given,
                                   std::size_t k, std::string_view name, const TensorSpec& spec);

template <class O> [[nodiscard]] GateFunctions gate_functions(const O& options) {
  return {activation(options.gate), activation(options.activation)};
}

/// Unrolls the cell over `gates`, the input's part of the gates, as the options say.
template <class O, class Cell, class State>
[[nodiscard]] Unrolled<State> unroll(const LayerCall& call, const O& options,
                                     const RecurrentInputs& given, const Cell& cell,
                                     const Tensor& gates, const State& start) {
  const UnrollOptions how{given.padding_mask ? call.inputs().back() : Tensor{}, options.reverse};
  return options.unroll == Unroll::written_out ? static_unroll(cell, gates, start, how)
                                               : dynamic_unroll(cell, gates, start, how);
}

}  // namespace stoker::nn::layers
