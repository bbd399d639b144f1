// Attention and its layers, against NumPy (golden/attention.py).
#include "stoker/api/nn/functional/attention.hpp"

#include <limits>

#include "stoker/tests/nn/golden_numbers.hpp"
#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

constexpr double exact = 1e-12;

class Attention : public Tensors {
 protected:
  GoldenNumbers golden{"attention"};
};

Tensor queries() { return sample({2, 2, 3, 4}, -1, 1, 1); }
Tensor keys() { return sample({2, 2, 5, 4}, -1, 1, 2); }
Tensor values() { return sample({2, 2, 5, 3}, -1, 1, 3); }
/// Of the second sequence the last two keys are padding.
Tensor mask() { return tensor<std::uint8_t>({{1, 1, 1, 1, 1}, {1, 1, 1, 0, 0}}); }
Tensor mask_of_heads() { return reshape(mask(), {2, 1, 1, 5}); }

Tensor attend(const AttentionOptions& options = {}) {
  return scaled_dot_product_attention(queries(), keys(), values(), options);
}

// The function -----------------------------------------------------------------------------------

TEST_F(Attention, gathers_values_by_the_likeness_of_queries_and_keys) {
  const Tensor y = attend();
  EXPECT_EQ(y.spec(), (TensorSpec{DType::f64, {2, 2, 3, 3}}));
  expect_near(y, golden["plain"], exact);
  expect_near(attend({.scale = 2.0}), golden["scaled"], exact);
}

TEST_F(Attention, a_mask_of_integers_says_which_keys_take_part) {
  expect_near(attend({.mask = mask_of_heads()}), golden["masked"], exact);
  expect_near(attend({.mask = as_type(mask_of_heads(), DType::s32) * 7}), golden["masked"], exact);
}

TEST_F(Attention, a_mask_of_floats_is_added_to_the_scores) {
  expect_near(attend({.mask = sample({3, 5}, -3, 3, 4)}), golden["biased"], exact);
}

TEST_F(Attention, the_last_query_of_a_causal_one_sees_all_keys) {
  expect_near(attend({.causal = true}), golden["causal"], exact);
  expect_near(attend({.mask = mask_of_heads(), .causal = true}), golden["causal_masked"], exact);
}

TEST_F(Attention, a_query_that_sees_nothing_gets_zeros) {
  const Tensor q = ones({1, 3, 2});
  const Tensor k = ones({1, 2, 2});
  const Tensor v = tensor({{{1.0}, {3.0}}});
  const auto none =
      scaled_dot_product_attention(q, k, v, {.mask = tensor({{1, 1}, {0, 0}, {0, 1}})});
  expect_near(none, {2, 0, 3});
  // Three queries for two keys: the first of them stands before both.
  expect_near(scaled_dot_product_attention(q, k, v, {.causal = true}), {0, 1, 2});
}

TEST_F(Attention, a_mask_of_floats_may_leave_keys_out) {
  const Tensor q = ones({1, 3, 2});
  const Tensor v = tensor({{{1.0}, {3.0}, {7.0}}});
  const double never = -std::numeric_limits<double>::infinity();
  const Tensor mask = tensor({{0.0, 0.0, never}, {never, never, never}, {never, 0.0, 0.0}});
  expect_near(scaled_dot_product_attention(q, q, v, {.mask = mask}), {2, 0, 5});
  // What the order leaves out counts less than the lowest number.
  const Tensor low =
      tensor({std::numeric_limits<float>::lowest(), std::numeric_limits<float>::lowest(), 0.0F});
  expect_near(scaled_dot_product_attention(q, q, v, {.mask = low, .causal = true}), {1, 2, 7});
}

TEST_F(Attention, what_takes_no_part_gets_no_gradient) {
  const auto f = [](const Tensor& v) {
    return sum(scaled_dot_product_attention(queries(), keys(), v, {.mask = mask_of_heads()}));
  };
  const Tensor gradient = grad(f)(values());
  expect_near(gradient[{1, 0, Range{3, 5}}], std::vector<double>(6, 0.0));
  EXPECT_GT(std::abs(gradient[{1, 0, 2, 0}].item<double>()), 0.01);
}

TEST_F(Attention, leading_axes_broadcast) {
  const Tensor one_head = slice_along_axis(keys(), 0, 1, 1);
  const Tensor shared = slice_along_axis(values(), 0, 1, 1);
  const Tensor repeated = broadcast(one_head, {2, 2, 5, 4});
  const Tensor want =
      scaled_dot_product_attention(queries(), repeated, broadcast(shared, {2, 2, 5, 3}));
  expect_near(scaled_dot_product_attention(queries(), one_head, shared), want.to_vector<double>(),
              exact);
}

TEST_F(Attention, the_softmax_of_halves_is_f32) {
  const auto half = [](const Tensor& x) { return as_type(x, DType::f16); };
  const Tensor y = scaled_dot_product_attention(half(queries()), half(keys()), half(values()));
  EXPECT_EQ(y.dtype(), DType::f16);
  expect_near(as_type(y, DType::f64), golden["plain"], 5e-3);
  // Scores of 10 and 10.0035 are one number in f16; their weights differ by tanh(0.00175).
  const Tensor fine = scaled_dot_product_attention(
      half(tensor({{1.0}})), half(tensor({{10.0}, {10.0}})), half(tensor({{1000.0}, {-1000.0}})),
      {.mask = tensor({{0.0035, 0.0}})});
  expect_near(as_type(fine, DType::f64), {1000 * std::tanh(0.00175)}, 0.2);
}

TEST_F(Attention, dropout_drops_weights_and_scales_the_others) {
  // Even weights of 1/400 over values of 1: what is left of them adds up to about 1.
  const Tensor q = zeros({1, 50, 2});
  const Tensor k = zeros({1, 400, 2});
  const Tensor v = ones({1, 400, 1});
  const AttentionOptions options{.dropout = 0.25, .key = random::key(3)};
  const Tensor y = scaled_dot_product_attention(q, k, v, options);
  const auto sums = y.to_vector<double>();
  // A sum is n / 300 for n of 400 that are left, 300 ± 8.7 of them.
  for (const double one : sums) {
    EXPECT_NEAR(one, 1, 6 * 8.7 / 300);
    EXPECT_NEAR(one * 300, std::round(one * 300), 1e-2);
  }
  EXPECT_NEAR(mean(y).item<double>(), 1, 0.02);
  EXPECT_NE(sums[0], sums[1]);
  EXPECT_EQ(scaled_dot_product_attention(q, k, v, options).to_vector<double>(), sums)
      << "the key decides";
}

TEST_F(Attention, gradients_pass_to_queries_keys_and_values) {
  const auto f = [](const AttentionOptions& options) {
    return [options](const std::vector<Tensor>& in) {
      return scaled_dot_product_attention(in[0], in[1], in[2], options);
    };
  };
  const std::vector<Tensor> at{sample({1, 3, 2}, -1, 1, 1), sample({1, 3, 2}, -1, 1, 2),
                               sample({1, 3, 2}, -1, 1, 3)};
  expect_gradient(f({}), at);
  expect_gradient(f({.causal = true}), at);
  expect_gradient(f({.mask = tensor({{0, 0, 0}, {1, 0, 1}, {1, 1, 1}})}), at);
}

TEST_F(Attention, operands_that_do_not_fit_are_refused) {
  const Error sizes = error_of([] {
    return scaled_dot_product_attention(zeros({2, 3}), zeros({4, 2}), zeros({4, 2}));
  });
  EXPECT_EQ(sizes.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(sizes.reason(),
            "expected q […, queries, size], k […, keys, size] and v […, keys, value size], got "
            "[2,3], [4,2] and [4,2]");
  EXPECT_EQ(code_of([] {
              return scaled_dot_product_attention(zeros({2, 3}), zeros({4, 3}), zeros({5, 2}));
            }),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(
      code_of([] {
        return scaled_dot_product_attention(zeros({3, 2, 3}), zeros({2, 4, 3}), zeros({4, 2}));
      }),
      ErrorCode::shape_mismatch);
  const Error integers = error_of([] {
    return scaled_dot_product_attention(tensor({{1}}), zeros({1, 1}), zeros({1, 1}));
  });
  EXPECT_EQ(integers.code(), ErrorCode::dtype_mismatch);
  const Error wide = error_of([] { return attend({.mask = ones({5, 5}, DType::u8)}); });
  EXPECT_EQ(wide.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(wide.reason(), "expected a mask that broadcasts to [2,2,3,5], got [5,5]");
}

TEST_F(Attention, rates_out_of_range_and_dropout_without_a_key_are_refused) {
  EXPECT_EQ(code_of([] { return attend({.dropout = 1.0, .key = random::key(1)}); }),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of([] { return attend({.dropout = -0.1, .key = random::key(1)}); }),
            ErrorCode::invalid_parameter);
  const Error without = error_of([] { return attend({.dropout = 0.5}); });
  EXPECT_EQ(without.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(without.reason(), "dropout needs a key of random numbers");
}

TEST_F(Attention, heads_are_split_off_the_features_and_joined_again) {
  const Tensor x = iota({1, 2, 4});
  const Tensor split = split_heads(x, 2);
  expect_values<int>(split, {1, 2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7});
  expect_values<int>(join_heads(split), {1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Error three = error_of([&] { return split_heads(x, 3); });
  EXPECT_EQ(three.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(three.reason(),
            "expected [batch, time, features] with features for 3 heads, got [1,2,4]");
  EXPECT_EQ(code_of([&] { return join_heads(x); }), ErrorCode::shape_mismatch);
}

using AttentionOnDevices = TensorsOnDevices;
INSTANTIATE_TEST_SUITE_P(Devices, AttentionOnDevices, every_device(), device_name);

TEST_P(AttentionOnDevices, it_gives_the_same_everywhere) {
  const GoldenNumbers golden{"attention"};
  const auto single = [](const Tensor& x) { return as_type(x, DType::f32); };
  const Tensor y = scaled_dot_product_attention(single(queries()), single(keys()), single(values()),
                                                {.mask = mask_of_heads(), .causal = true});
  expect_near(y, golden["causal_masked"], 1e-5);
}

// The plain layer --------------------------------------------------------------------------------

TEST_F(Attention, the_plain_layer_takes_query_key_and_value) {
  const auto layer = [](const Params& options, const std::vector<Tensor>& inputs) {
    return OneLayer{"attention", options}(inputs).outputs.at(0);
  };
  expect_near(layer({}, {queries(), keys(), values()}), golden["plain"], exact);
  expect_near(layer({{"causal", true}}, {queries(), keys(), values()}), golden["causal"], exact);
  expect_near(layer({{"scale", 2.0}}, {queries(), keys(), values()}), golden["scaled"], exact);
  expect_near(layer({{"mask", true}}, {queries(), keys(), values(), mask()}), golden["masked"],
              exact);
  expect_near(layer({}, {queries(), keys()}),
              scaled_dot_product_attention(queries(), keys(), keys()).to_vector<double>(), exact);
  EXPECT_TRUE((OneLayer{"attention", {}}.variables({queries(), keys()}).empty()));
  EXPECT_EQ(code_of([&] {
              return layer({}, {queries(), keys(), values(), mask()});
            }),
            ErrorCode::arity_mismatch)
      << "four without the option";
  const Error rate = error_of([&] { return layer({{"dropout", 1.0}}, {queries(), keys()}); });
  EXPECT_EQ(rate.code(), ErrorCode::invalid_parameter);
}

// Several heads ----------------------------------------------------------------------------------

Variables head_weights(std::int64_t query, std::int64_t memory, std::int64_t inner) {
  const auto kernel = [](std::int64_t from, std::int64_t to, double seed) {
    return sample({from, to}, -1, 1, seed);
  };
  const auto bias = [](std::int64_t to, double seed) { return sample({to}, -1, 1, seed + 0.5); };
  return {{"query_kernel", kernel(query, inner, 11)},  {"query_bias", bias(inner, 11)},
          {"key_kernel", kernel(memory, inner, 12)},   {"key_bias", bias(inner, 12)},
          {"value_kernel", kernel(memory, inner, 13)}, {"value_bias", bias(inner, 13)},
          {"output_kernel", kernel(inner, query, 14)}, {"output_bias", bias(query, 14)}};
}
Tensor text() { return sample({2, 3, 4}, -1, 1, 5); }
Tensor memory() { return sample({2, 5, 3}, -1, 1, 6); }

TEST_F(Attention, several_heads_attend_to_the_sequence_itself) {
  const OneLayer two{"multi_head_attention", {{"heads", 2}}};
  const OneLayer causal{"multi_head_attention", {{"heads", 2}, {"causal", true}}};
  const Variables w = head_weights(4, 4, 4);
  const Tensor y = two({text()}, w).outputs.at(0);
  EXPECT_EQ(y.spec(), (TensorSpec{DType::f64, {2, 3, 4}}));
  expect_near(y, golden["self"], exact);
  expect_near(causal({text()}, w).outputs[0], golden["self_causal"], exact);
  const Tensor first = slice_along_axis(text(), 0, 1);
  expect_near(two({first}, w).outputs[0], slice_along_axis(y, 0, 1).to_vector<double>(), exact);
}

TEST_F(Attention, several_heads_attend_to_another_sequence) {
  const OneLayer layer{"multi_head_attention", {{"heads", 2}, {"key_size", 3}, {"mask", true}}};
  const Variables w = head_weights(4, 3, 6);
  expect_near(layer({text(), memory(), mask()}, w).outputs.at(0), golden["cross"], exact);
  expect_near(layer({text(), memory(), memory(), mask()}, w).outputs[0], golden["cross"], exact);
  const Tensor each = broadcast(new_axis(mask(), 1), {2, 3, 5});
  expect_near(layer({text(), memory(), each}, w).outputs[0], golden["cross"], exact);
}

TEST_F(Attention, the_variables_of_several_heads_follow_their_sizes) {
  const OneLayer layer{"multi_head_attention", {{"heads", 2}, {"key_size", 3}}};
  std::map<std::string, Shape> shapes;
  for (const VariableSpec& one : layer.variables({text(), memory()})) shapes[one.name] = one.shape;
  const std::map<std::string, Shape> want{{"query_kernel", {4, 6}},  {"query_bias", {6}},
                                          {"key_kernel", {3, 6}},    {"key_bias", {6}},
                                          {"value_kernel", {3, 6}},  {"value_bias", {6}},
                                          {"output_kernel", {6, 4}}, {"output_bias", {4}}};
  EXPECT_EQ(shapes, want);
  const OneLayer unbiased{"multi_head_attention", {{"heads", 2}, {"use_bias", false}}};
  EXPECT_EQ(unbiased.variables({text()}).size(), 4);
}

TEST_F(Attention, weights_are_dropped_while_training_only) {
  const OneLayer layer{"multi_head_attention", {{"heads", 2}, {"dropout", 0.5}}};
  const Variables w = head_weights(4, 4, 4);
  expect_near(layer({text()}, w).outputs[0], golden["self"], exact);
  const auto once = layer({text()}, w, true, random::key(1)).outputs[0].to_vector<double>();
  const auto again = layer({text()}, w, true, random::key(1)).outputs[0].to_vector<double>();
  const auto other = layer({text()}, w, true, random::key(2)).outputs[0].to_vector<double>();
  EXPECT_NE(once, golden["self"]);
  EXPECT_EQ(once, again);
  EXPECT_NE(once, other);
}

TEST_F(Attention, several_heads_run_in_a_traced_program_and_have_gradients) {
  const OneLayer layer{"multi_head_attention", {{"heads", 2}, {"causal", true}}};
  const Variables w = head_weights(4, 4, 4);
  const auto traced = jit([&](const Tensor& x) { return layer({x}, w).outputs[0]; });
  expect_near(traced(text()), golden["self_causal"], exact);
  std::vector<std::string> names;
  std::vector<Tensor> at{text()};
  for (const auto& [name, one] : w) {
    names.push_back(name);
    at.push_back(one);
  }
  expect_gradient(
      [&](const std::vector<Tensor>& in) {
        Variables variables;
        for (std::size_t k = 0; k < names.size(); ++k) variables[names[k]] = in[k + 1];
        return layer({in[0]}, variables).outputs[0];
      },
      at);
}

TEST_F(Attention, heads_that_do_not_fit_are_refused) {
  const OneLayer three{"multi_head_attention", {{"heads", 3}}};
  const Error features = error_of([&] { return three.variables({text()}); });
  EXPECT_EQ(features.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(features.reason(),
            "4 features are not divisible by 3 heads; a key_size would say how many each has");
  const OneLayer two{"multi_head_attention", {{"heads", 2}}};
  const Error batches = error_of([&] { return two.variables({text(), zeros({3, 5, 3})}); });
  EXPECT_EQ(batches.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(batches.reason(),
            "expected [batch, time, features] of one batch, got [2,3,4], [3,5,3] and [3,5,3]");
  EXPECT_EQ(code_of([&] { return two.variables({zeros({2, 4})}); }), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of([] {
              return OneLayer{"multi_head_attention", Params{}};
            }),
            ErrorCode::invalid_parameter);
}

// Positions --------------------------------------------------------------------------------------

TEST_F(Attention, positions_are_added_by_their_place) {
  const OneLayer layer{"position_embedding", {{"length", 4}}};
  const Variables w{{"kernel", tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}, {7.0, 8.0}})}};
  const Tensor x = tensor({{{0.5, 0.5}, {0.0, 0.0}, {1.0, 1.0}}});
  expect_near(layer({x}, w).outputs.at(0), {1.5, 2.5, 3, 4, 6, 7});
  expect_near(layer({concatenate({x, x, x})}, w).outputs[0][2], {1.5, 2.5, 3, 4, 6, 7});
  const auto specs = layer.variables({x});
  ASSERT_EQ(specs.size(), 1);
  EXPECT_EQ(specs[0].name, "kernel");
  EXPECT_EQ(specs[0].shape, (Shape{4, 2}));
  EXPECT_EQ(specs[0].initializer.text(), "uniform");
}

TEST_F(Attention, places_that_were_not_met_get_no_gradient) {
  const OneLayer layer{"position_embedding", {{"length", 3}}};
  const auto f = [&](const Tensor& kernel) {
    return sum(layer({ones({2, 2, 1})}, {{"kernel", kernel}}).outputs[0]);
  };
  expect_near(grad(f)(zeros({3, 1})), {2, 2, 0});
}

TEST_F(Attention, sequences_longer_than_the_table_are_refused) {
  const OneLayer layer{"position_embedding", {{"length", 2}}};
  const Error built = error_of([&] { return layer.variables({zeros({1, 3, 2})}); });
  EXPECT_EQ(built.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(built.reason(), "expected [batch, time, features] with at most 2 steps, got [1,3,2]");
  const Error run = error_of([&] {
    return layer({zeros({1, 3, 2})}, {{"kernel", zeros({2, 2})}}).outputs;
  });
  EXPECT_EQ(run.reason(), built.reason());
  EXPECT_EQ(code_of([&] { return layer.variables({zeros({1, 2})}); }), ErrorCode::shape_mismatch);
}

}  // namespace
}  // namespace stoker::nn
