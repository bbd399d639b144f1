#include "stoker/api/nn/layers/recurrent.hpp"

#include "stoker/api/nn/functional/projection.hpp"

namespace stoker::nn::layers::recurrent {
namespace {

constexpr std::size_t lstm_states = 2;
constexpr std::size_t gru_states = 1;

void check_sequence(const char* op, const Shape& x) {
  if (x.rank() != 3)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected [batch, time, features], got " + x.to_string(),
                {{"input", x.to_string()}}};
}

template <class O>
std::vector<VariableSpec> kernels(std::span<const TensorSpec> inputs, const O& options,
                                  std::int64_t gates) {
  const Shape& x = inputs[0].shape;
  check_sequence(O::kind, x);
  const std::int64_t units = options.units;
  const Named& initializer = options.kernel_initializer;
  std::vector<VariableSpec> all{{"input_kernel", Shape{x[2], gates * units}, initializer},
                                {"hidden_kernel", Shape{units, gates * units}, initializer}};
  if (options.use_bias) all.push_back({"bias", Shape{gates * units}, options.bias_initializer});
  return all;
}

std::vector<VariableSpec> lstm_variables(std::span<const TensorSpec> inputs, const Lstm& options) {
  std::vector<VariableSpec> all = kernels(inputs, options, 4);
  const std::vector<std::int64_t> row{options.units};
  check_recurrent_inputs("lstm", inputs, lstm_states, row, options.padding_mask);
  if (!recurrent_inputs("lstm", inputs.size(), lstm_states, options.padding_mask).states)
    declare_states(all, {"initial_c", "initial_h"}, row, options.recurrent_initializer);
  return all;
}

std::vector<VariableSpec> gru_variables(std::span<const TensorSpec> inputs, const Gru& options) {
  std::vector<VariableSpec> all = kernels(inputs, options, 3);
  const std::vector<std::int64_t> row{options.units};
  check_recurrent_inputs("gru", inputs, gru_states, row, options.padding_mask);
  if (options.use_bias)
    all.push_back({"hidden_bias", Shape{options.units}, options.bias_initializer});
  if (!recurrent_inputs("gru", inputs.size(), gru_states, options.padding_mask).states)
    declare_states(all, {"initial_h"}, row, options.recurrent_initializer);
  return all;
}

/// What the input adds to the gates of all steps, in the dtype in which states go on.
Tensor gates_of(const char* op, const LayerCall& call) {
  check_sequence(op, call.x().shape());
  // Steps need time as the first axis: it goes there where there is less to move.
  const Tensor gates =
      unrolling::exchanged(projected(unrolling::exchanged(call.x()), call.variable("input_kernel"),
                                     call.has("bias") ? call.variable("bias") : Tensor{}));
  return as_type(gates, expr::merged(gates.dtype(), call.variable("hidden_kernel").dtype()));
}

TensorSpec state_spec(const Tensor& gates, std::int64_t units) {
  return {gates.dtype(), Shape{gates.shape()[0], units}};
}

std::vector<Tensor> apply_lstm(LayerCall& call, const Lstm& options) {
  const auto given =
      recurrent_inputs("lstm", call.inputs().size(), lstm_states, options.padding_mask);
  const Tensor gates = gates_of("lstm", call);
  const TensorSpec state = state_spec(gates, options.units);
  const GateFunctions functions = gate_functions(options);
  const Tensor& kernel = call.variable("hidden_kernel");
  const auto cell = [&](const LstmState& before, const Tensor& from_input) {
    return lstm_step(from_input, before, kernel, functions);
  };
  const LstmState start{initial_state(call, given, 0, "initial_c", state),
                        initial_state(call, given, 1, "initial_h", state)};
  const auto [sequence, last] = unroll(call, options, given, cell, gates, start);
  return {sequence, last.c, last.h};
}

std::vector<Tensor> apply_gru(LayerCall& call, const Gru& options) {
  const auto given =
      recurrent_inputs("gru", call.inputs().size(), gru_states, options.padding_mask);
  const Tensor gates = gates_of("gru", call);
  const GateFunctions functions = gate_functions(options);
  const Tensor& kernel = call.variable("hidden_kernel");
  const Tensor bias =
      call.has("hidden_bias") ? as_type(call.variable("hidden_bias"), gates.dtype()) : Tensor{};
  const auto cell = [&](const GruState& before, const Tensor& from_input) {
    return gru_step(from_input, before, kernel, bias, functions);
  };
  const GruState start{
      initial_state(call, given, 0, "initial_h", state_spec(gates, options.units))};
  const auto [sequence, last] = unroll(call, options, given, cell, gates, start);
  return {sequence, last.h};
}

}  // namespace

void define(LayerTable& table) {
  table.add<Lstm>(
      {.summary = "an LSTM (long short-term memory) over [batch, time, features]: {sequence, c, h}",
       .most_inputs = 4,
       .outputs = 3,
       .variables = &lstm_variables,
       .apply = &apply_lstm,
       .earlier_names = earlier_recurrent_names()});
  table.add<Gru>(
      {.summary = "a GRU (gated recurrent units) over [batch, time, features]: {sequence, h}",
       .most_inputs = 3,
       .outputs = 2,
       .variables = &gru_variables,
       .apply = &apply_gru,
       .earlier_names = earlier_recurrent_names()});
}

}  // namespace stoker::nn::layers::recurrent
