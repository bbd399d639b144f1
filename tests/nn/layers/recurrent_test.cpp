// LSTM and GRU: one step by hand, whole sequences against NumPy (golden/recurrent.py).
#include "stoker/api/nn/functional/recurrent_cells.hpp"
#include "stoker/api/nn/graph/node.hpp"
#include "stoker/api/tensor/transforms/vmap.hpp"
#include "stoker/tests/nn/golden_numbers.hpp"
#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

using Recurrent = Tensors;

constexpr std::int64_t batch = 3;
constexpr std::int64_t time_steps = 4;
constexpr std::int64_t features = 2;
constexpr std::int64_t units = 3;
constexpr double exact = 1e-12;

Tensor sequence() { return sample({batch, time_steps, features}, -1, 1, 1); }
Tensor memory() { return sample({batch, units}, -1, 1, 2); }
Tensor shown() { return sample({batch, units}, -1, 1, 3); }
/// Of the first sequence nothing, of the second the end, of the third both ends.
Tensor padding() { return tensor<std::uint8_t>({{0, 0, 0, 0}, {0, 0, 1, 1}, {1, 0, 0, 1}}); }

/// `gates` side by side.
Variables weights(std::int64_t gates) {
  return {{"input_kernel", sample({features, gates * units}, -1, 1, 4)},
          {"hidden_kernel", sample({units, gates * units}, -1, 1, 5)},
          {"bias", sample({gates * units}, -1, 1, 6)}};
}
Variables lstm_weights() { return weights(4); }
Variables gru_weights() {
  Variables all = weights(3);
  all["hidden_bias"] = sample({units}, -1, 1, 7);
  return all;
}

Tensor rows(const Tensor& x, std::int64_t count) { return slice_along_axis(x, 0, count); }

Tensor together(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> flat;
  flat.reserve(tensors.size());
  for (const Tensor& one : tensors) flat.push_back(flatten(one));
  return concatenate(flat);
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// Cells ------------------------------------------------------------------------------------------

TEST_F(Recurrent, an_lstm_cell_forgets_and_remembers_by_its_gates) {
  // One unit, one feature; gates i f g o.
  const LstmWeights w{tensor<double>({{0.5, -0.25, 1.5, 0.75}}),
                      tensor<double>({{1.0, 0.5, -0.5, 0.25}}),
                      tensor<double>({0.1, 0.2, 0.3, 0.4})};
  const LstmState next =
      lstm_cell(tensor<double>({{2.0}}), {tensor<double>({{-0.7}}), tensor<double>({{0.6}})}, w);
  const double i = sigmoid_of(0.5 * 2 + 1.0 * 0.6 + 0.1);
  const double f = sigmoid_of(-0.25 * 2 + 0.5 * 0.6 + 0.2);
  const double g = std::tanh(1.5 * 2 - 0.5 * 0.6 + 0.3);
  const double o = sigmoid_of(0.75 * 2 + 0.25 * 0.6 + 0.4);
  const double c = f * -0.7 + i * g;
  expect_near(next.c, {c}, exact);
  expect_near(next.h, {o * std::tanh(c)}, exact);
}

TEST_F(Recurrent, a_gru_cell_mixes_its_state_with_a_candidate) {
  const GruWeights w{tensor<double>({{0.5, -0.25, 1.5}}), tensor<double>({{1.0, 0.5, -0.5}}),
                     tensor<double>({0.1, 0.2, 0.3}), tensor<double>({0.4})};
  const GruState next = gru_cell(tensor<double>({{2.0}}), {tensor<double>({{0.6}})}, w);
  const double r = sigmoid_of(0.5 * 2 + 1.0 * 0.6 + 0.1);
  const double z = sigmoid_of(-0.25 * 2 + 0.5 * 0.6 + 0.2);
  const double n = std::tanh(1.5 * 2 + 0.3 + r * (-0.5 * 0.6 + 0.4));
  expect_near(next.h, {(1 - z) * n + z * 0.6}, exact);
}

TEST_F(Recurrent, gates_and_candidates_go_through_the_functions_given) {
  const GateFunctions functions{[](const Tensor& x) { return x * 2; },
                                [](const Tensor& x) { return x + 1; }};
  const LstmState next =
      lstm_cell(tensor<double>({{1.0}}), {tensor<double>({{3.0}}), tensor<double>({{0.0}})},
                {tensor<double>({{0.5, 0.25, 4.0, 1.0}}), zeros({1, 4}, DType::f64)}, functions);
  // c = 2·0.25·3 + 2·0.5·(4 + 1), h = 2·1·(c + 1)
  expect_near(next.c, {6.5});
  expect_near(next.h, {15});
}

TEST_F(Recurrent, a_state_that_does_not_fit_the_gates_is_refused) {
  const LstmWeights w{zeros({2, 12}), zeros({3, 12})};
  const Error error = error_of([&] {
    return lstm_cell(zeros({1, 2}), {zeros({1, 4}), zeros({1, 4})}, w).h;
  });
  EXPECT_EQ(error.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(error.reason(),
            "gates [1,12] do not fit a state [1,4]: expected the same batch and 4 times the units");
}

// Steps one after the other ----------------------------------------------------------------------

/// A state that adds up what it is given: easy to follow.
GruState adding(const GruState& state, const Tensor& x) { return {state.h + x}; }

TEST_F(Recurrent, unrolling_gives_every_step_and_the_last_state) {
  const Tensor x = tensor({{{1.0}, {2.0}, {4.0}}, {{-1.0}, {0.0}, {8.0}}});
  const GruState start{tensor({{10.0}, {20.0}})};
  const auto check = [&](const Unrolled<GruState>& got) {
    expect_values<float>(got.sequence, {2, 3, 1}, {11, 13, 17, 19, 19, 27});
    expect_values<float>(got.last.h, {2, 1}, {17, 27});
  };
  check(dynamic_unroll(adding, x, start));
  check(static_unroll(adding, x, start));
}

TEST_F(Recurrent, unrolling_backwards_keeps_the_order_of_time) {
  const Tensor x = tensor({{{1.0}, {2.0}, {4.0}}});
  const GruState start{tensor({{10.0}})};
  const auto check = [&](const Unrolled<GruState>& got) {
    expect_values<float>(got.sequence, {1, 3, 1}, {17, 16, 14});
    expect_values<float>(got.last.h, {1, 1}, {17});
  };
  check(dynamic_unroll(adding, x, start, {.reverse = true}));
  check(static_unroll(adding, x, start, {.reverse = true}));
}

TEST_F(Recurrent, a_masked_step_leaves_the_state_as_it_was) {
  const Tensor x = tensor({{{1.0}, {2.0}, {4.0}}, {{-1.0}, {0.0}, {8.0}}});
  const GruState start{tensor({{10.0}, {20.0}})};
  const Tensor mask = tensor<std::uint8_t>({{0, 1, 0}, {1, 0, 1}});
  const auto check = [&](const Unrolled<GruState>& got) {
    expect_values<float>(got.sequence, {2, 3, 1}, {11, 11, 15, 20, 20, 20});
    expect_values<float>(got.last.h, {2, 1}, {15, 20});
  };
  check(dynamic_unroll(adding, x, start, {.padding_mask = mask}));
  check(static_unroll(adding, x, start, {.padding_mask = mask}));
}

TEST_F(Recurrent, a_mask_may_be_one_for_all_of_the_batch) {
  const Tensor x = tensor({{{1.0}, {2.0}}, {{3.0}, {4.0}}});
  const GruState start{zeros({2, 1})};
  const auto got = dynamic_unroll(adding, x, start, {.padding_mask = tensor({0, 1})});
  expect_values<float>(got.sequence, {2, 2, 1}, {1, 1, 3, 3});
}

TEST_F(Recurrent, sequences_and_masks_that_do_not_fit_are_refused) {
  const GruState start{zeros({2, 1})};
  const Error no_time = error_of([&] { return static_unroll(adding, zeros({2}), start).sequence; });
  EXPECT_EQ(no_time.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(no_time.reason(), "expected [batch, time, …] with at least one step, got [2]");
  const Error no_steps = error_of([&] {
    return dynamic_unroll(adding, zeros({2, 0, 1}), start).sequence;
  });
  EXPECT_EQ(no_steps.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(no_steps.op(), "dynamic_unroll");
  const Error mask = error_of([&] {
    return dynamic_unroll(adding, zeros({2, 3, 1}), start, {.padding_mask = zeros({2, 4})})
        .sequence;
  });
  EXPECT_EQ(mask.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(mask.reason(), "expected a padding mask [batch, time] for [2,3,1], got [2,4]");
}

// Layers -----------------------------------------------------------------------------------------

class RecurrentLayer : public Tensors, public testing::WithParamInterface<const char*> {
 protected:
  OneLayer layer(const char* kind, Params options = {}) const {
    options.set("units", units);
    options.set("unroll", std::string{GetParam()});
    return OneLayer{kind, options};
  }
  GoldenNumbers golden{"recurrent"};
};
INSTANTIATE_TEST_SUITE_P(Unrolled, RecurrentLayer, testing::Values("dynamic", "static"),
                         [](const auto& one) { return std::string{one.param}; });

TEST_P(RecurrentLayer, an_lstm_gives_the_sequence_and_its_final_c_and_h) {
  const auto got = layer("lstm")({sequence(), memory(), shown()}, lstm_weights()).outputs;
  ASSERT_EQ(got.size(), 3);
  EXPECT_EQ(got[0].spec(), (TensorSpec{DType::f64, {batch, time_steps, units}}));
  expect_near(got[0], golden["lstm"], exact);
  expect_near(got[1], golden["lstm_c"], exact);
  expect_near(got[2], golden["lstm_h"], exact);
}

TEST_P(RecurrentLayer, a_gru_gives_the_sequence_and_its_final_h) {
  const auto got = layer("gru")({sequence(), shown()}, gru_weights()).outputs;
  ASSERT_EQ(got.size(), 2);
  EXPECT_EQ(got[0].spec(), (TensorSpec{DType::f64, {batch, time_steps, units}}));
  expect_near(got[0], golden["gru"], exact);
  expect_near(got[1], golden["gru_h"], exact);
}

TEST_P(RecurrentLayer, masked_steps_keep_the_state) {
  const auto lstm = layer("lstm", {{"padding_mask", true}})(
                        {sequence(), memory(), shown(), padding()}, lstm_weights())
                        .outputs;
  expect_near(lstm[0], golden["lstm_masked"], exact);
  expect_near(lstm[1], golden["lstm_masked_c"], exact);
  expect_near(lstm[2], golden["lstm_masked_h"], exact);
  const auto gru =
      layer("gru", {{"padding_mask", true}})({sequence(), shown(), padding()}, gru_weights())
          .outputs;
  expect_near(gru[0], golden["gru_masked"], exact);
  expect_near(gru[1], golden["gru_masked_h"], exact);
}

TEST_P(RecurrentLayer, one_in_reverse_goes_backwards_in_time) {
  const auto lstm =
      layer("lstm", {{"reverse", true}})({sequence(), memory(), shown()}, lstm_weights()).outputs;
  expect_near(lstm[0], golden["lstm_backwards"], exact);
  expect_near(lstm[1], golden["lstm_backwards_c"], exact);
  expect_near(lstm[2], golden["lstm_backwards_h"], exact);
  const auto gru = layer("gru", {{"reverse", true}})({sequence(), shown()}, gru_weights()).outputs;
  expect_near(gru[0], golden["gru_backwards"], exact);
}

TEST_P(RecurrentLayer, every_row_of_a_batch_is_computed_alone) {
  const auto all = layer("lstm")({sequence(), memory(), shown()}, lstm_weights()).outputs;
  const auto one =
      layer("lstm")({rows(sequence(), 1), rows(memory(), 1), rows(shown(), 1)}, lstm_weights())
          .outputs;
  EXPECT_EQ(one[0].shape(), (Shape{1, time_steps, units}));
  for (std::size_t k = 0; k < 3; ++k)
    expect_near(one[k], rows(all[k], 1).to_vector<double>(), exact);
  const auto gru = layer("gru")({sequence(), shown()}, gru_weights()).outputs;
  expect_near(layer("gru")({rows(sequence(), 1), rows(shown(), 1)}, gru_weights()).outputs[0],
              rows(gru[0], 1).to_vector<double>(), exact);
}

TEST_P(RecurrentLayer, initial_states_that_are_not_given_are_rows_of_its_own) {
  Variables variables = lstm_weights();
  variables["initial_c"] = rows(memory(), 1);
  variables["initial_h"] = rows(shown(), 1);
  const Tensor every = broadcast(rows(memory(), 1), {batch, units});
  const Tensor each = broadcast(rows(shown(), 1), {batch, units});
  const auto want = layer("lstm")({sequence(), every, each}, lstm_weights()).outputs;
  const auto got = layer("lstm")({sequence()}, variables);
  expect_near(got.outputs[0], want[0].to_vector<double>(), exact);
  EXPECT_TRUE(got.states.empty()) << "they never change";
}

TEST_P(RecurrentLayer, initial_states_of_zeros_need_no_variables) {
  const auto gru = layer("gru", {{"recurrent_initializer", "zeros"}});
  const auto want =
      layer("gru")({sequence(), zeros({batch, units}, DType::f64)}, gru_weights()).outputs;
  expect_near(gru({sequence()}, gru_weights()).outputs[0], want[0].to_vector<double>(), exact);
  for (const VariableSpec& one : gru.variables({sequence()})) EXPECT_NE(one.name, "initial_h");
}

TEST_P(RecurrentLayer, without_a_bias_there_is_none) {
  Variables unbiased = gru_weights();
  unbiased.erase("bias");
  unbiased.erase("hidden_bias");
  Variables zero = gru_weights();
  zero["bias"] = zeros({3 * units}, DType::f64);
  zero["hidden_bias"] = zeros({units}, DType::f64);
  const auto gru = layer("gru", {{"use_bias", false}});
  expect_near(gru({sequence(), shown()}, unbiased).outputs[0],
              layer("gru")({sequence(), shown()}, zero).outputs[0].to_vector<double>(), exact);
  EXPECT_EQ(gru.variables({sequence(), shown()}).size(), 2);
}

TEST_P(RecurrentLayer, states_go_on_in_the_dtype_of_inputs_and_kernels) {
  for (const DType dtype : {DType::f16, DType::f32}) {
    Variables variables;
    for (const auto& [name, one] : gru_weights()) variables[name] = as_type(one, dtype);
    // The state is f64: what is given to start with does not decide.
    const auto got = layer("gru")({as_type(sequence(), dtype), shown()}, variables).outputs;
    EXPECT_EQ(got[0].dtype(), dtype);
    EXPECT_EQ(got[1].dtype(), dtype);
    expect_near(as_type(got[0], DType::f64), golden["gru"], dtype == DType::f16 ? 1e-2 : 1e-5);
  }
}

TEST_P(RecurrentLayer, it_runs_in_a_traced_program) {
  const auto f = jit([&](const Tensor& x, const Tensor& mask) {
    return layer("lstm", {{"padding_mask", true}})({x, memory(), shown(), mask}, lstm_weights())
        .outputs;
  });
  expect_near(f(sequence(), padding())[0], golden["lstm_masked"], exact);
  expect_near(f(sequence(), zeros_like(padding()))[0], golden["lstm"], exact);
}

TEST_P(RecurrentLayer, it_maps_over_batches) {
  const auto f = [&](const Tensor& x) {
    return layer("gru")({x, shown()}, gru_weights()).outputs[0];
  };
  const Tensor other = sequence() * 0.5;
  const Tensor both = vmap(f)(stack({sequence(), other}));
  expect_near(both[0], golden["gru"], exact);
  expect_near(both[1], f(other).to_vector<double>(), exact);
}

TEST_P(RecurrentLayer, gradients_pass_to_inputs_states_and_weights) {
  const auto lstm = layer("lstm", {{"padding_mask", true}});
  const Variables w = lstm_weights();
  expect_gradient(
      [&](const std::vector<Tensor>& in) {
        const Variables variables{
            {"input_kernel", in[3]}, {"hidden_kernel", in[4]}, {"bias", in[5]}};
        return together(lstm({in[0], in[1], in[2], padding()}, variables).outputs);
      },
      {sequence(), memory(), shown(), w.at("input_kernel"), w.at("hidden_kernel"), w.at("bias")});
  const auto gru = layer("gru", {{"reverse", true}});
  const Variables v = gru_weights();
  expect_gradient(
      [&](const std::vector<Tensor>& in) {
        const Variables variables{{"input_kernel", in[2]},
                                  {"hidden_kernel", in[3]},
                                  {"bias", in[4]},
                                  {"hidden_bias", in[5]}};
        return together(gru({in[0], in[1]}, variables).outputs);
      },
      {sequence(), shown(), v.at("input_kernel"), v.at("hidden_kernel"), v.at("bias"),
       v.at("hidden_bias")});
}

TEST_F(Recurrent, the_variables_of_an_lstm_hold_its_gates_side_by_side) {
  const OneLayer lstm{"lstm", {{"units", 5}, {"bias_initializer", "ones"}}};
  const auto all = lstm.variables({zeros({7, 4, 2})});
  ASSERT_EQ(all.size(), 5);
  EXPECT_EQ(all[0].name, "input_kernel");
  EXPECT_EQ(all[0].shape, (Shape{2, 20}));
  EXPECT_EQ(all[0].initializer.text(), "glorot_uniform");
  EXPECT_EQ(all[1].name, "hidden_kernel");
  EXPECT_EQ(all[1].shape, (Shape{5, 20}));
  EXPECT_EQ(all[2].name, "bias");
  EXPECT_EQ(all[2].shape, Shape{20});
  EXPECT_EQ(all[2].initializer.text(), "ones");
  for (const std::size_t k : {3u, 4u}) {
    EXPECT_EQ(all[k].name, k == 3 ? "initial_c" : "initial_h");
    EXPECT_EQ(all[k].shape, (Shape{1, 5}));
    EXPECT_EQ(all[k].kind, VariableKind::state) << "training leaves it";
  }
  EXPECT_EQ(lstm.variables({zeros({7, 4, 2}), zeros({7, 5}), zeros({7, 5})}).size(), 3);
}

TEST_F(Recurrent, inputs_that_do_not_fit_are_refused) {
  const OneLayer lstm{"lstm", {{"units", 3}}};
  const OneLayer masked{"gru", {{"units", 3}, {"padding_mask", true}}};
  const Error flat = error_of([&] { return lstm.variables({zeros({2, 4})}); });
  EXPECT_EQ(flat.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(flat.reason(), "expected [batch, time, features], got [2,4]");
  const Error half = error_of([&] { return lstm.variables({zeros({2, 4, 2}), zeros({2, 3})}); });
  EXPECT_EQ(half.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(half.reason(), "expected a sequence, or one and 2 states; got 2 inputs");
  const Error narrow = error_of([&] {
    return lstm.variables({zeros({2, 4, 2}), zeros({2, 3}), zeros({2, 4})});
  });
  EXPECT_EQ(narrow.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(narrow.reason(), "expected a state [2,3], got [2,4]");
  const Error unmasked = error_of([&] { return masked.variables({zeros({2, 4, 2})}); });
  EXPECT_EQ(unmasked.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(unmasked.reason(),
            "expected a sequence, or one and 1 states, and a padding mask; got 1 inputs");
  const Error shorter = error_of([&] {
    return masked.variables({zeros({2, 4, 2}), zeros({2, 3})});
  });
  EXPECT_EQ(shorter.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(shorter.reason(), "expected a padding mask [2,4], got [2,3]");
}

TEST_F(Recurrent, a_padding_mask_is_read_under_the_name_that_earlier_files_have) {
  for (const char* const kind : {"lstm", "gru", "conv_lstm", "bidirectional"}) {
    const Layer made{Named{kind, {{"units", 2}, {"mask", true}}}};
    EXPECT_TRUE(made.options().flag("padding_mask")) << kind;
    EXPECT_EQ(made.given().find("mask"), nullptr) << kind << ": it is saved under today's name";
  }
}

TEST_F(Recurrent, options_that_there_are_not_are_refused) {
  EXPECT_EQ(code_of([] {
              return OneLayer{"lstm", {{"units", 3}, {"unroll", "sometimes"}}};
            }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return OneLayer{"gru", {{"units", 0}}}; }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return OneLayer{"gru", Params{}}; }), ErrorCode::invalid_parameter);
}

using RecurrentOnDevices = TensorsOnDevices;
INSTANTIATE_TEST_SUITE_P(Devices, RecurrentOnDevices, every_device(), device_name);

TEST_P(RecurrentOnDevices, a_masked_gru_gives_the_same_everywhere) {
  const GoldenNumbers golden{"recurrent"};
  const auto single = [](const Tensor& x) { return as_type(x, DType::f32); };
  Variables variables;
  for (const auto& [name, one] : gru_weights()) variables[name] = single(one);
  const OneLayer gru{"gru", {{"units", units}, {"padding_mask", true}}};
  const auto got = gru({single(sequence()), single(shown()), padding()}, variables).outputs;
  expect_near(got[0], golden["gru_masked"], 1e-5);
  expect_near(got[1], golden["gru_masked_h"], 1e-5);
}

// Masks of tokens --------------------------------------------------------------------------------

TEST_F(Recurrent, a_mask_says_where_a_token_pads) {
  const Tensor tokens = tensor({{5, 7, 2, 2}, {2, 5, 2, 9}});
  const Tensor mask = OneLayer{"mask", {{"eos_token", 2}}}({tokens}).outputs[0];
  EXPECT_EQ(mask.dtype(), DType::u8);
  expect_values<int>(mask, {2, 4}, {0, 0, 1, 1, 1, 0, 1, 0});
  const OneLayer inverted{"mask", {{"eos_token", 2}, {"inverted", true}}};
  expect_values<int>(inverted({tokens}).outputs[0], {2, 4}, {1, 1, 0, 0, 0, 1, 0, 1});
  EXPECT_EQ(code_of([] { return OneLayer{"mask", Params{}}; }), ErrorCode::invalid_parameter);
}

TEST_F(Recurrent, padding_does_not_change_what_a_sequence_comes_to) {
  const OneLayer padded{"gru", {{"units", units}, {"padding_mask", true}}};
  const OneLayer plain{"gru", {{"units", units}}};
  const Tensor two = rows(slice_along_axis(sequence(), 0, 2, 1), 2);
  const Tensor long_ones = concatenate({two, full({2, 2, features}, 9, DType::f64)}, 1);
  const Tensor mask =
      OneLayer{"mask", {{"eos_token", 0}}}({tensor({{4, 4, 0, 0}, {4, 4, 0, 0}})}).outputs[0];
  const Tensor start = rows(shown(), 2);
  expect_near(padded({long_ones, start, mask}, gru_weights()).outputs[1],
              plain({two, start}, gru_weights()).outputs[1].to_vector<double>(), exact);
}

}  // namespace
}  // namespace stoker::nn
