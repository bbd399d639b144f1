// Recurrent networks as functions: cells, which compute one step, and loops that unroll them over a
// sequence.
//
//     const LstmWeights w{input_kernel, hidden_kernel, bias};
//     const auto [sequence, last] = dynamic_unroll(
//         [&](const LstmState& state, const Tensor& x) { return lstm_cell(x, state, w); },
//         xs, LstmState{c, h});                            // xs: [batch, time, features]
//
// A state is a structure of tensors (structure.hpp) whose first axis is the batch, with a member
// `h`: the step's output. A cell maps a state and one element of the sequence to the next state;
// user-defined cells work like those below.
//
// The gates are concatenated along the last axis of every kernel and bias, in the order given at
// the weights. The input's part of the gates does not depend on the state, so one product can
// compute it for all steps: multiply the whole sequence by the input kernel first, then unroll only
// the second half of the cell, lstm_step() or gru_step(). The layers lstm and gru do so.
//
// Formulas: Hochreiter and Schmidhuber, "Long short-term memory", 1997, with the forget gate of
// Gers et al., 2000; Chung et al., arXiv:1412.3555; Shi et al., arXiv:1506.04214 without its
// peepholes.
//
// Pure functions; any thread. Errors are thrown: shape_mismatch, and the errors of the cell.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "stoker/api/nn/functional/activation.hpp"
#include "stoker/api/tensor/core/axes.hpp"
#include "stoker/api/tensor/math/windows.hpp"
#include "stoker/api/tensor/transforms/control_flow.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::nn {

/// The functions applied to gates and to candidates.
struct GateFunctions {
  Activation gate = &stoker::sigmoid;
  Activation activation = &stoker::tanh;
};

// LSTM -------------------------------------------------------------------------------------------

struct LstmState {
  Tensor c;  ///< [batch, units], the cell state
  Tensor h;  ///< [batch, units], the output
};
template <class Visitor> void visit_tensors(LstmState& state, Visitor&& visit) {
  visit(state.c);
  visit(state.h);
}

/// The gates are i, f, g, o: input, forget, candidate, output.
struct LstmWeights {
  Tensor input_kernel;   ///< [features, 4·units]
  Tensor hidden_kernel;  ///< [units, 4·units]
  Tensor bias = {};      ///< [4·units]
};

/// c' = f·c + i·g and h' = o·activation(c'). The activation is applied to g, the gate function to
/// the other gates.
[[nodiscard]] LstmState lstm_cell(const Tensor& x, const LstmState& state,
                                  const LstmWeights& weights, const GateFunctions& functions = {});
/// The same, given the input's part of the gates, [batch, 4·units].
[[nodiscard]] LstmState lstm_step(const Tensor& from_input, const LstmState& state,
                                  const Tensor& hidden_kernel, const GateFunctions& functions = {});

// GRU --------------------------------------------------------------------------------------------

struct GruState {
  Tensor h;  ///< [batch, units]
};
template <class Visitor> void visit_tensors(GruState& state, Visitor&& visit) { visit(state.h); }

/// The gates are r, z, n: reset, update, candidate.
struct GruWeights {
  Tensor input_kernel;      ///< [features, 3·units]
  Tensor hidden_kernel;     ///< [units, 3·units]
  Tensor bias = {};         ///< [3·units]
  Tensor hidden_bias = {};  ///< [units], added to the candidate's hidden part, which r multiplies
};

/// n = activation(x·W + b + r·(h·U + hidden bias)) and h' = (1 - z)·n + z·h.
[[nodiscard]] GruState gru_cell(const Tensor& x, const GruState& state, const GruWeights& weights,
                                const GateFunctions& functions = {});
/// The same, given the input's part of the gates, [batch, 3·units].
[[nodiscard]] GruState gru_step(const Tensor& from_input, const GruState& state,
                                const Tensor& hidden_kernel, const Tensor& hidden_bias = {},
                                const GateFunctions& functions = {});

// LSTM of images ---------------------------------------------------------------------------------

/// The gates are i, g, f, o.
struct ConvLstmWeights {
  Tensor input_kernel;   ///< [spatial…, channels, 4·units]
  Tensor hidden_kernel;  ///< [spatial…, units, 4·units]
  Tensor bias = {};      ///< [4·units]
};

/// Strides and padding apply to the input's convolution; the state's convolution keeps the extents.
struct ConvLstmOptions {
  std::optional<Axes> strides = {};  ///< one for each spatial axis; default 1
  PadRule padding = PadRule::same;
  bool channels_last = true;  ///< of inputs and states: [batch, spatial…, channels]
  GateFunctions functions = {};
};

/// As lstm_cell(), with convolutions instead of products; the forget gate is gate(f + 1). One to
/// three spatial axes.
[[nodiscard]] LstmState conv_lstm_cell(const Tensor& x, const LstmState& state,
                                       const ConvLstmWeights& weights,
                                       const ConvLstmOptions& options = {});
/// The input's part of the gates, for x [batch, spatial…, channels].
[[nodiscard]] Tensor conv_lstm_gates(const Tensor& x, const Tensor& input_kernel,
                                     const Tensor& bias = {}, const ConvLstmOptions& options = {});
[[nodiscard]] LstmState conv_lstm_step(const Tensor& from_input, const LstmState& state,
                                       const Tensor& hidden_kernel,
                                       const ConvLstmOptions& options = {});

// Steps ------------------------------------------------------------------------------------------

struct UnrollOptions {
  /// Broadcasts to [batch, time]. A step where it is not 0 is padding: state and output stay
  /// unchanged.
  Tensor padding_mask = {};
  /// Runs from the last step to the first; the output sequence stays in time order.
  bool reverse = false;
};

template <class State> struct Unrolled {
  Tensor sequence;  ///< every step's h, [batch, time, …]
  State last;
};

namespace unrolling {
/// The sequence, and the mask if there is one, with time moved to the first axis.
[[nodiscard]] std::vector<Tensor> steps_of(const char* op, const Tensor& sequence,
                                           const Tensor& mask);
/// [batch, time, …] to [time, batch, …], and the reverse.
[[nodiscard]] Tensor exchanged(const Tensor& x);
/// `old` where the mask [batch] is not 0, else `next`.
[[nodiscard]] std::vector<Tensor> kept(const Tensor& mask, std::span<const Tensor> old,
                                       std::span<const Tensor> next);

template <class Cell, class State>
[[nodiscard]] State masked_step(const Cell& cell, const State& state,
                                const std::vector<Tensor>& step) {
  State next = cell(state, step[0]);
  if (step.size() == 1) return next;
  return stoker::detail::with_tensors(
      next, kept(step[1], stoker::detail::tensors_of(state), stoker::detail::tensors_of(next)));
}
}  // namespace unrolling

/// Applies a cell to each step of [batch, time, …] in a loop; the cell is traced once.
template <class Cell, class State>
[[nodiscard]] Unrolled<State> dynamic_unroll(const Cell& cell, const Tensor& sequence,
                                             const State& start,
                                             const UnrollOptions& options = {}) {
  const auto body = [&](const State& state, const std::vector<Tensor>& step) {
    State next = unrolling::masked_step(cell, state, step);
    const Tensor shown = next.h;
    return std::pair{std::move(next), shown};
  };
  auto [last, shown] =
      scan(body, start, unrolling::steps_of("dynamic_unroll", sequence, options.padding_mask),
           {.reverse = options.reverse});
  return {unrolling::exchanged(shown), std::move(last)};
}

/// The same with every step traced separately: for short sequences.
template <class Cell, class State>
[[nodiscard]] Unrolled<State> static_unroll(const Cell& cell, const Tensor& sequence,
                                            const State& start, const UnrollOptions& options = {}) {
  const std::vector<Tensor> steps =
      unrolling::steps_of("static_unroll", sequence, options.padding_mask);
  const std::int64_t count = steps[0].shape()[0];
  std::vector<Tensor> shown(static_cast<std::size_t>(count));
  State state = start;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t t = options.reverse ? count - 1 - i : i;
    std::vector<Tensor> step;
    step.reserve(steps.size());
    for (const Tensor& all : steps) step.push_back(squeeze(slice_along_axis(all, t, 1), Axes{0}));
    state = unrolling::masked_step(cell, state, step);
    shown[static_cast<std::size_t>(t)] = state.h;
  }
  return {unrolling::exchanged(stack(shown)), std::move(state)};
}

}  // namespace stoker::nn
