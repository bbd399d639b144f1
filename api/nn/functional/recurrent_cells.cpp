#include "stoker/api/nn/functional/recurrent_cells.hpp"

#include <numeric>

#include "stoker/api/nn/functional/projection.hpp"
#include "stoker/api/tensor/math/convolution.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/products.hpp"

namespace stoker::nn {
namespace {

/// The k-th of the gates that lie side by side along an axis.
Tensor gate(const Tensor& gates, std::int64_t k, std::int64_t units, std::int64_t axis = -1) {
  return slice_along_axis(gates, k * units, units, axis);
}

/// How many units there are, as the state has it; `gates` has room for `count` gates of them.
std::int64_t checked_units(const char* op, const Tensor& gates, const Tensor& state,
                           std::int64_t count, std::size_t axis) {
  const bool fits = gates.rank() == state.rank() && gates.rank() > axis &&
                    gates.shape()[axis] == count * state.shape()[axis] &&
                    gates.shape()[0] == state.shape()[0];
  if (!fits)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "gates " + gates.shape().to_string() + " do not fit a state " +
                    state.shape().to_string() + ": expected the same batch and " +
                    std::to_string(count) + " times the units",
                {{"gates", gates.spec().to_string()}, {"state", state.spec().to_string()}}};
  return state.shape()[axis];
}

LstmState next_state(const Tensor& i, const Tensor& f, const Tensor& g, const Tensor& o,
                     const Tensor& c, const GateFunctions& functions) {
  const Tensor next = functions.gate(f) * c + functions.gate(i) * functions.activation(g);
  return {next, functions.gate(o) * functions.activation(next)};
}

/// Where conv() finds things; `rank` counts batch and channels.
ConvOptions layout(std::size_t rank, bool channels_last) {
  const auto axes = static_cast<std::int64_t>(rank);
  ConvOptions options;
  Axes kernel{axes - 1, axes - 2};
  Axes images{0, channels_last ? axes - 1 : 1};
  for (std::int64_t k = 0; k < axes - 2; ++k) {
    kernel.push_back(k);
    images.push_back(channels_last ? k + 1 : k + 2);
  }
  options.kernel_permutation = kernel;
  options.input_permutation = images;
  options.output_permutation = images;
  return options;
}

std::size_t channel_axis(const Tensor& x, bool channels_last) {
  return channels_last ? x.rank() - 1 : 1;
}

void check_images(const char* op, const Tensor& x, const Tensor& kernel) {
  if (x.rank() < 3 || x.rank() > 5 || kernel.rank() != x.rank())
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected images with one to three spatial axes and a kernel [spatial…, channels, "
                "gates], got " +
                    x.shape().to_string() + " and " + kernel.shape().to_string(),
                {{"input", x.spec().to_string()}, {"kernel", kernel.spec().to_string()}}};
}

}  // namespace

LstmState lstm_cell(const Tensor& x, const LstmState& state, const LstmWeights& weights,
                    const GateFunctions& functions) {
  return lstm_step(projected(x, weights.input_kernel, weights.bias), state, weights.hidden_kernel,
                   functions);
}

LstmState lstm_step(const Tensor& from_input, const LstmState& state, const Tensor& hidden_kernel,
                    const GateFunctions& functions) {
  const std::int64_t units = checked_units("lstm_cell", from_input, state.h, 4, 1);
  const Tensor gates = from_input + matmul(state.h, hidden_kernel);
  return next_state(gate(gates, 0, units), gate(gates, 1, units), gate(gates, 2, units),
                    gate(gates, 3, units), state.c, functions);
}

GruState gru_cell(const Tensor& x, const GruState& state, const GruWeights& weights,
                  const GateFunctions& functions) {
  return gru_step(projected(x, weights.input_kernel, weights.bias), state, weights.hidden_kernel,
                  weights.hidden_bias, functions);
}

GruState gru_step(const Tensor& from_input, const GruState& state, const Tensor& hidden_kernel,
                  const Tensor& hidden_bias, const GateFunctions& functions) {
  const std::int64_t units = checked_units("gru_cell", from_input, state.h, 3, 1);
  const Tensor from_state = matmul(state.h, hidden_kernel);
  const Tensor r = functions.gate(gate(from_input, 0, units) + gate(from_state, 0, units));
  const Tensor z = functions.gate(gate(from_input, 1, units) + gate(from_state, 1, units));
  Tensor remembered = gate(from_state, 2, units);
  if (hidden_bias.has_value()) remembered = remembered + hidden_bias;
  const Tensor n = functions.activation(gate(from_input, 2, units) + r * remembered);
  return {(1 - z) * n + z * state.h};
}

Tensor conv_lstm_gates(const Tensor& x, const Tensor& input_kernel, const Tensor& bias,
                       const ConvLstmOptions& options) {
  check_images("conv_lstm_cell", x, input_kernel);
  ConvOptions how = layout(x.rank(), options.channels_last);
  how.strides = options.strides;
  how.padding = options.padding;
  Tensor gates = conv(x, input_kernel, how);
  if (!bias.has_value()) return gates;
  if (options.channels_last) return gates + bias;
  std::vector<std::int64_t> extents(x.rank() - 1, 1);
  extents[0] = -1;
  return gates + reshape(bias, extents);
}

LstmState conv_lstm_step(const Tensor& from_input, const LstmState& state,
                         const Tensor& hidden_kernel, const ConvLstmOptions& options) {
  check_images("conv_lstm_cell", state.h, hidden_kernel);
  const std::size_t channels = channel_axis(state.h, options.channels_last);
  const std::int64_t units = checked_units("conv_lstm_cell", from_input, state.h, 4, channels);
  ConvOptions how = layout(state.h.rank(), options.channels_last);
  how.padding = PadRule::same;
  const Tensor gates = from_input + conv(state.h, hidden_kernel, how);
  const auto part = [&](std::int64_t k) {
    return gate(gates, k, units, static_cast<std::int64_t>(channels));
  };
  // A state is remembered at first: without the 1 half of it would go at every step.
  return next_state(part(0), part(2) + 1, part(1), part(3), state.c, options.functions);
}

LstmState conv_lstm_cell(const Tensor& x, const LstmState& state, const ConvLstmWeights& weights,
                         const ConvLstmOptions& options) {
  return conv_lstm_step(conv_lstm_gates(x, weights.input_kernel, weights.bias, options), state,
                        weights.hidden_kernel, options);
}

namespace unrolling {

Tensor exchanged(const Tensor& x) {
  Axes order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return transpose(x, order);
}

std::vector<Tensor> steps_of(const char* op, const Tensor& sequence, const Tensor& mask) {
  if (sequence.rank() < 2 || sequence.shape()[1] == 0)
    throw Error{
        op,
        ErrorCode::shape_mismatch,
        "expected [batch, time, …] with at least one step, got " + sequence.shape().to_string(),
        {{"input", sequence.spec().to_string()}}};
  std::vector<Tensor> steps{exchanged(sequence)};
  if (!mask.has_value()) return steps;
  const Shape each{sequence.shape()[0], sequence.shape()[1]};
  const auto fits = stoker::broadcast(mask.shape(), each);
  if (!fits || *fits != each)
    throw Error{op,
                ErrorCode::shape_mismatch,
                "expected a padding mask [batch, time] for " + sequence.shape().to_string() +
                    ", got " + mask.shape().to_string(),
                {{"input", sequence.spec().to_string()}, {"mask", mask.spec().to_string()}}};
  steps.push_back(exchanged(stoker::broadcast(mask, each)));
  return steps;
}

std::vector<Tensor> kept(const Tensor& mask, std::span<const Tensor> old,
                         std::span<const Tensor> next) {
  std::vector<Tensor> made;
  for (std::size_t k = 0; k < next.size(); ++k) {
    std::vector<std::int64_t> extents(next[k].rank(), 1);
    if (!extents.empty()) extents[0] = mask.shape()[0];
    made.push_back(select(reshape(mask, extents), old[k], next[k]));
  }
  return made;
}

}  // namespace unrolling

}  // namespace stoker::nn
