#include "stoker/api/nn/layers/conv_lstm.hpp"

namespace stoker::nn::layers::conv_lstm {
namespace {

constexpr const char* name = ConvLstm::kind;
constexpr std::size_t states = 2;

bool channels_last(const ConvLstm& options) { return options.channels == Channels::last; }

/// One number for each spatial axis; one alone is for all.
Axes for_each_axis(std::string_view option, const Extents& extents, std::size_t axes) {
  Axes given = extents.list();
  if (given.size() == 1) given.assign(axes, given[0]);
  if (given.size() != axes)
    throw Error{name,
                ErrorCode::invalid_parameter,
                "expected one entry of " + std::string{option} + ", or one for each of " +
                    std::to_string(axes) + " axes; got " + std::to_string(given.size()),
                {{"parameter", std::string{option}}, {"got", to_string(ParamValue{given})}}};
  return given;
}

/// What the padding leaves of an extent.
std::int64_t left(std::int64_t extent, std::int64_t taps, std::int64_t stride, bool same) {
  if (same) return (extent + stride - 1) / stride;
  if (extent < taps)
    throw Error{name,
                ErrorCode::shape_mismatch,
                "a kernel of " + std::to_string(taps) + " does not fit an extent of " +
                    std::to_string(extent),
                {{"kernel_size", std::to_string(taps)}, {"extent", std::to_string(extent)}}};
  return (extent - taps) / stride + 1;
}

void check_sequence(const Shape& x) {
  if (x.rank() < 4 || x.rank() > 6)
    throw Error{
        name,
        ErrorCode::shape_mismatch,
        "expected images [batch, time, …] with one to three spatial axes and channels, got " +
            x.to_string(),
        {{"input", x.to_string()}}};
}

std::vector<VariableSpec> variables(std::span<const TensorSpec> inputs, const ConvLstm& options) {
  const Shape& x = inputs[0].shape;
  check_sequence(x);
  const std::size_t axes = x.rank() - 3;
  const bool last = channels_last(options);
  const std::int64_t units = options.units;
  const Axes taps = for_each_axis("kernel_size", options.kernel_size, axes);
  const Axes strides = for_each_axis("strides", options.strides, axes);
  std::vector<std::int64_t> row;
  for (std::size_t k = 0; k < axes; ++k)
    row.push_back(left(x[k + (last ? 2 : 3)], taps[k], strides[k], options.padding == same));
  row.insert(last ? row.end() : row.begin(), units);
  check_recurrent_inputs(name, inputs, states, row, options.padding_mask);

  const auto kernel = [&](std::int64_t channels) {
    std::vector<std::int64_t> extents{taps};
    extents.push_back(channels);
    extents.push_back(4 * units);
    return Shape::make(extents, name);
  };
  const Named& initializer = options.kernel_initializer;
  std::vector<VariableSpec> all{{"input_kernel", kernel(x[last ? x.rank() - 1 : 2]), initializer},
                                {"hidden_kernel", kernel(units), initializer}};
  if (options.use_bias) all.push_back({"bias", Shape{4 * units}, options.bias_initializer});
  if (!recurrent_inputs(name, inputs.size(), states, options.padding_mask).states)
    declare_states(all, {"initial_c", "initial_h"}, row, options.recurrent_initializer);
  return all;
}

ConvLstmOptions cell_options(const LayerCall& call, const ConvLstm& options) {
  return {for_each_axis("strides", options.strides, call.x().rank() - 3), options.padding,
          channels_last(options), gate_functions(options)};
}

/// The gates of all steps, [batch, time, …], of images as one long batch. Steps need time as the
/// first axis: it goes there where there is less to move.
Tensor gates_of(const LayerCall& call, const ConvLstmOptions& options) {
  const Tensor frames = unrolling::exchanged(call.x());
  const Shape& x = frames.shape();
  std::vector<std::int64_t> images(x.begin() + 1, x.end());
  images[0] = x[0] * x[1];
  const Tensor gates =
      conv_lstm_gates(reshape(frames, images), call.variable("input_kernel"),
                      call.has("bias") ? call.variable("bias") : Tensor{}, options);
  std::vector<std::int64_t> steps{x[0], x[1]};
  steps.insert(steps.end(), gates.shape().begin() + 1, gates.shape().end());
  return as_type(unrolling::exchanged(reshape(gates, steps)),
                 expr::merged(gates.dtype(), call.variable("hidden_kernel").dtype()));
}

std::vector<Tensor> apply(LayerCall& call, const ConvLstm& options) {
  check_sequence(call.x().shape());
  const auto given = recurrent_inputs(name, call.inputs().size(), states, options.padding_mask);
  const ConvLstmOptions how = cell_options(call, options);
  const Tensor gates = gates_of(call, how);
  const Shape one_step = gates.shape().without(1);
  const TensorSpec state{gates.dtype(),
                         one_step.with(how.channels_last ? one_step.rank() - 1 : 1, options.units)};
  const Tensor& kernel = call.variable("hidden_kernel");
  const auto cell = [&](const LstmState& before, const Tensor& from_input) {
    return conv_lstm_step(from_input, before, kernel, how);
  };
  const LstmState start{initial_state(call, given, 0, "initial_c", state),
                        initial_state(call, given, 1, "initial_h", state)};
  const auto [sequence, last] = unroll(call, options, given, cell, gates, start);
  return {sequence, last.c, last.h};
}

}  // namespace

void define(LayerTable& table) {
  table.add<ConvLstm>({.summary = "an LSTM over a sequence of images: {sequence, c, h}",
                       .most_inputs = 4,
                       .outputs = 3,
                       .variables = &variables,
                       .apply = &apply,
                       .earlier_names = earlier_recurrent_names()});
}

}  // namespace stoker::nn::layers::conv_lstm
