// LSTM of images over time, against NumPy (golden/recurrent.py).
#include "stoker/api/nn/functional/recurrent_cells.hpp"
#include "stoker/tests/nn/golden_numbers.hpp"
#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

using ConvLstm = Tensors;

constexpr double exact = 1e-12;

// Three frames of 3·2 pixels with 2 channels for each of 2 sequences; 2 units; a kernel of 2·3
// taps.
Tensor frames() { return sample({2, 3, 3, 2, 2}, -1, 1, 1); }
Tensor memory() { return sample({2, 3, 2, 2}, -1, 1, 2); }
Tensor shown() { return sample({2, 3, 2, 2}, -1, 1, 3); }
Variables weights() {
  return {{"input_kernel", sample({2, 3, 2, 8}, -1, 1, 4)},
          {"hidden_kernel", sample({2, 3, 2, 8}, -1, 1, 5)},
          {"bias", sample({8}, -1, 1, 6)}};
}
OneLayer layer(Params options = {}) {
  options.set("units", std::int64_t{2});
  options.set("kernel_size", std::vector<std::int64_t>{2, 3});
  return OneLayer{"conv_lstm", options};
}

Tensor channels_first(const Tensor& x) {
  return x.rank() == 5 ? transpose(x, Axes{0, 1, 4, 2, 3}) : transpose(x, Axes{0, 3, 1, 2});
}

TEST_F(ConvLstm, it_gives_the_sequence_and_its_final_c_and_h) {
  const GoldenNumbers golden{"recurrent"};
  for (const char* unroll : {"dynamic", "static"}) {
    SCOPED_TRACE(unroll);
    const auto got = layer({{"unroll", unroll}})({frames(), memory(), shown()}, weights()).outputs;
    ASSERT_EQ(got.size(), 3);
    EXPECT_EQ(got[0].spec(), (TensorSpec{DType::f64, {2, 3, 3, 2, 2}}));
    expect_near(got[0], golden["conv_lstm"], exact);
    expect_near(got[1], golden["conv_lstm_c"], exact);
    expect_near(got[2], golden["conv_lstm_h"], exact);
  }
}

TEST_F(ConvLstm, channels_may_come_first) {
  const auto last = layer()({frames(), memory(), shown()}, weights()).outputs;
  const auto first =
      layer({{"channels", "first"}})(
          {channels_first(frames()), channels_first(memory()), channels_first(shown())}, weights())
          .outputs;
  for (std::size_t k = 0; k < 3; ++k)
    expect_near(first[k], channels_first(last[k]).to_vector<double>(), exact);
}

TEST_F(ConvLstm, every_row_of_a_batch_is_computed_alone) {
  const auto one = [](const Tensor& x) { return slice_along_axis(x, 1, 1); };
  const auto all = layer()({frames(), memory(), shown()}, weights()).outputs;
  const auto alone = layer()({one(frames()), one(memory()), one(shown())}, weights()).outputs;
  expect_near(alone[0], one(all[0]).to_vector<double>(), exact);
}

TEST_F(ConvLstm, masked_frames_keep_the_state) {
  const OneLayer masked = layer({{"padding_mask", true}});
  const Tensor mask = tensor({{0, 0, 1}, {0, 0, 1}});
  const Tensor two = slice_along_axis(frames(), 0, 2, 1);
  const auto want = layer()({two, memory(), shown()}, weights()).outputs;
  const auto got = masked({frames(), memory(), shown(), mask}, weights()).outputs;
  expect_near(got[1], want[1].to_vector<double>(), exact);
  expect_near(got[2], want[2].to_vector<double>(), exact);
}

TEST_F(ConvLstm, strides_and_padding_are_those_of_the_inputs_convolution) {
  const OneLayer strided = layer({{"strides", 2}});
  const Tensor wide = sample({1, 2, 5, 4, 2});
  Variables w = weights();
  for (const char* name : {"initial_c", "initial_h"}) w[name] = zeros({1, 3, 2, 2}, DType::f64);
  EXPECT_EQ(strided({wide}, w).outputs[0].shape(), (Shape{1, 2, 3, 2, 2}));
  const auto specs = strided.variables({wide});
  EXPECT_EQ(specs.back().name, "initial_h");
  EXPECT_EQ(specs.back().shape, (Shape{1, 3, 2, 2})) << "as large as the strides leave it";
  EXPECT_EQ(layer({{"padding", "valid"}}).variables({wide}).back().shape, (Shape{1, 4, 2, 2}));
}

TEST_F(ConvLstm, without_padding_the_edges_go) {
  // Where the state adds nothing, what is left is what padding would have left unchanged.
  Variables w{{"input_kernel", sample({2, 1, 2, 8}, -1, 1, 4)},
              {"hidden_kernel", zeros({2, 1, 2, 8}, DType::f64)},
              {"bias", sample({8}, -1, 1, 6)}};
  const auto with = [&](const char* padding) {
    const Params options{{"units", 2},
                         {"kernel_size", {2, 1}},
                         {"padding", padding},
                         {"recurrent_initializer", "zeros"}};
    return OneLayer{"conv_lstm", options}({frames()}, w).outputs[0];
  };
  const Tensor got = with("valid");
  EXPECT_EQ(got.shape(), (Shape{2, 3, 2, 2, 2}));
  // "same" adds one row of zeros behind the last of three.
  expect_near(got, slice_along_axis(with("same"), 0, 2, 2).to_vector<double>(), exact);
}

TEST_F(ConvLstm, its_variables_follow_where_channels_stand) {
  const auto specs = layer({{"channels", "first"}}).variables({zeros({1, 2, 3, 5, 4})});
  EXPECT_EQ(specs[0].shape, (Shape{2, 3, 3, 8}));
  EXPECT_EQ(specs[1].shape, (Shape{2, 3, 2, 8}));
  EXPECT_EQ(specs.back().name, "initial_h");
  EXPECT_EQ(specs.back().shape, (Shape{1, 2, 5, 4}));
}

TEST_F(ConvLstm, sequences_of_rows_and_of_volumes_go_as_well) {
  const OneLayer line{"conv_lstm", {{"units", 2}, {"kernel_size", 3}}};
  const auto specs = line.variables({zeros({1, 2, 5, 4})});
  EXPECT_EQ(specs[0].shape, (Shape{3, 4, 8}));
  EXPECT_EQ(specs[1].shape, (Shape{3, 2, 8}));
  const OneLayer volume{"conv_lstm", {{"units", 1}, {"recurrent_initializer", "zeros"}}};
  // Kernels of one tap, all 0 but the candidate's bias of 1, and no state: c = ½·tanh(1).
  const Variables w{{"input_kernel", zeros({1, 1, 1, 2, 4})},
                    {"hidden_kernel", zeros({1, 1, 1, 1, 4})},
                    {"bias", tensor({0.0, 1.0, 0.0, 0.0})}};
  const auto got = volume({zeros({1, 1, 2, 1, 1, 2})}, w).outputs;
  const double c = 0.5 * std::tanh(1.0);
  EXPECT_EQ(got[1].shape(), (Shape{1, 2, 1, 1, 1}));
  expect_near(got[1], {c, c});
  expect_near(got[2], {0.5 * std::tanh(c), 0.5 * std::tanh(c)});
}

TEST_F(ConvLstm, its_forget_gate_starts_open) {
  // Everything is 0 but the state: what is left of it is sigmoid(1).
  const LstmState next = conv_lstm_cell(zeros({1, 1, 1}), {full({1, 1, 1}, 2.0), zeros({1, 1, 1})},
                                        {zeros({1, 1, 4}), zeros({1, 1, 4})});
  expect_near(next.c, {2 / (1 + std::exp(-1.0))});
}

TEST_F(ConvLstm, gradients_pass_to_inputs_states_and_weights) {
  const OneLayer line{"conv_lstm", {{"units", 1}, {"kernel_size", 2}}};
  expect_gradient(
      [&](const std::vector<Tensor>& in) {
        const Variables w{{"input_kernel", in[3]}, {"hidden_kernel", in[4]}, {"bias", in[5]}};
        const auto out = line({in[0], in[1], in[2]}, w).outputs;
        return stoker::concatenate({flatten(out[0]), flatten(out[1])});
      },
      {sample({1, 3, 3, 2}, -1, 1, 1), sample({1, 3, 1}, -1, 1, 2), sample({1, 3, 1}, -1, 1, 3),
       sample({2, 2, 4}, -1, 1, 4), sample({2, 1, 4}, -1, 1, 5), sample({4}, -1, 1, 6)});
}

TEST_F(ConvLstm, inputs_and_options_that_do_not_fit_are_refused) {
  const Error flat = error_of([&] { return layer().variables({zeros({2, 3, 4})}); });
  EXPECT_EQ(flat.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(flat.reason(),
            "expected images [batch, time, …] with one to three spatial axes and channels, got "
            "[2,3,4]");
  const Error taps = error_of([&] { return layer().variables({zeros({1, 2, 5, 4})}); });
  EXPECT_EQ(taps.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(taps.reason(), "expected one entry of kernel_size, or one for each of 1 axes; got 2");
  const Error small = error_of([&] {
    return layer({{"padding", "valid"}}).variables({zeros({1, 2, 5, 2, 1})});
  });
  EXPECT_EQ(small.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(small.reason(), "a kernel of 3 does not fit an extent of 2");
  const Error state = error_of([&] {
    return layer().variables({frames(), zeros({2, 3, 2, 3}), zeros({2, 3, 2, 2})});
  });
  EXPECT_EQ(state.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(state.reason(), "expected a state [2,3,2,2], got [2,3,2,3]");
  EXPECT_EQ(code_of([] { return layer({{"padding", "some"}}); }), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return layer({{"channels", "middle"}}); }), ErrorCode::invalid_parameter);
}

}  // namespace
}  // namespace stoker::nn
