// Dense kernels in 8 bits.
#include <algorithm>

#include "stoker/api/train/model/quantization.hpp"

#include "stoker/tests/nn/layer_fixture.hpp"
#include "stoker/tests/tensor/differences.hpp"

namespace stoker::nn {
namespace {

using Quantization = Tensors;

TEST_F(Quantization, each_channel_has_the_scale_of_its_largest) {
  // 127.5 steps up to the largest: scales 0.02, 1 and 2^-23 for a channel of zeros.
  const Tensor kernel = tensor({{2.55, -3.0, 0.0}, {-1.0, 127.5, 0.0}, {0.011, 0.4, 0.0}});
  const QuantizedKernel q = quantize_dense(kernel);
  EXPECT_EQ(q.values.spec(), (TensorSpec{DType::s8, {3, 3}}));
  EXPECT_EQ(q.scale.spec(), (TensorSpec{DType::f32, {3}}));
  expect_near(q.scale, {0.02, 1, 0x1p-23}, 1e-6);
  expect_values<int>(q.values, {3, 3}, {127, -3, 0, -50, 127, 0, 1, 0, 0});
}

TEST_F(Quantization, the_lowest_value_is_used) {
  const QuantizedKernel q = quantize_dense(tensor({{-127.5}, {100.0}}));
  expect_values<int>(q.values, {2, 1}, {-128, 100});
}

TEST_F(Quantization, no_element_is_off_by_more_than_half_a_step) {
  const Tensor kernel = sample({40, 6}, -3, 2);
  const QuantizedKernel q = quantize_dense(kernel);
  const auto off = (abs(dequantized(q) - kernel) / q.scale).to_vector<double>();
  double largest = 0;
  for (const double one : off) largest = std::max(largest, one);
  EXPECT_LE(largest, 0.5 + 1e-4);
  EXPECT_GT(largest, 0.4) << "8 bits are not exact";
}

TEST_F(Quantization, a_product_is_that_with_the_dequantized_kernel) {
  const QuantizedKernel q = quantize_dense(sample({5, 3}));
  for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
    const Tensor x = as_type(sample({2, 4, 5}, -1, 1, 1), dtype);
    const Tensor y = quantized_product(x, q);
    EXPECT_EQ(y.spec(), (TensorSpec{dtype, {2, 4, 3}}));
    const Tensor want = matmul(as_type(x, DType::f64), as_type(dequantized(q), DType::f64));
    expect_near(as_type(y, DType::f64), want.to_vector<double>(),
                dtype == DType::f16 ? 1e-2 : 1e-5);
  }
  EXPECT_EQ(quantized_product(ones({1, 5}, DType::s32), q).dtype(), DType::f32);
}

TEST_F(Quantization, kernels_of_another_form_are_refused) {
  const Error vector = error_of([] { return quantize_dense(zeros({3})).values; });
  EXPECT_EQ(vector.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(vector.reason(), "expected a kernel [in, out], got [3]");
  const Error integers = error_of([] { return quantize_dense(zeros({3, 2}, DType::s8)).values; });
  EXPECT_EQ(integers.code(), ErrorCode::dtype_mismatch);
  EXPECT_EQ(integers.reason(), "expected floating-point numbers, got s8[3,2]");
}

TEST_F(Quantization, a_quantized_layer_is_near_the_dense_one) {
  const Tensor kernel = sample({5, 3});
  const Tensor bias = sample({3}, -1, 1, 2);
  const QuantizedKernel q = quantize_dense(kernel);
  const Variables variables{{"values", q.values}, {"scale", q.scale}, {"bias", bias}};
  const OneLayer layer{"quantized_dense", {{"units", 3}, {"activation", "tanh"}}};
  for (const std::int64_t batch : {1, 3}) {
    const Tensor x = sample({batch, 5}, -1, 1, 1);
    const Tensor y = layer({x}, variables).outputs.at(0);
    EXPECT_EQ(y.spec(), (TensorSpec{DType::f64, {batch, 3}}));
    expect_near(y, tanh(matmul(x, kernel) + bias).to_vector<double>(), 2e-2);
    expect_near(y, tanh(matmul(x, dequantized(q)) + bias).to_vector<double>(), 1e-6);
  }
}

TEST_F(Quantization, its_kernel_is_a_state_of_8_bits) {
  const OneLayer layer{"quantized_dense", {{"units", 3}}};
  const auto all = layer.variables({zeros({2, 7, 5})});
  ASSERT_EQ(all.size(), 3);
  EXPECT_EQ(all[0].name, "values");
  EXPECT_EQ(all[0].shape, (Shape{5, 3}));
  EXPECT_EQ(all[0].dtype, DType::s8);
  EXPECT_EQ(all[0].kind, VariableKind::state);
  EXPECT_EQ(all[1].name, "scale");
  EXPECT_EQ(all[1].shape, Shape{3});
  EXPECT_EQ(all[1].kind, VariableKind::state);
  EXPECT_EQ(all[2].name, "bias");
  EXPECT_EQ(all[2].kind, VariableKind::parameter);
  EXPECT_EQ((OneLayer{"quantized_dense", {{"units", 3}, {"use_bias", false}}}
                 .variables({zeros({2, 5})})
                 .size()),
            2);
}

TEST_F(Quantization, gradients_pass_to_the_input_and_the_bias) {
  const QuantizedKernel q = quantize_dense(sample({3, 2}));
  const OneLayer layer{"quantized_dense", {{"units", 2}, {"activation", "sigmoid"}}};
  expect_gradient(
      [&](const std::vector<Tensor>& in) {
        return layer({in[0]}, {{"values", q.values}, {"scale", q.scale}, {"bias", in[1]}})
            .outputs[0];
      },
      {sample({2, 3}, -1, 1, 1), sample({2}, -1, 1, 2)});
}

TEST_F(Quantization, inputs_and_options_that_do_not_fit_are_refused) {
  const OneLayer layer{"quantized_dense", {{"units", 3}}};
  const Error flat = error_of([&] { return layer.variables({zeros({5})}); });
  EXPECT_EQ(flat.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(flat.reason(), "expected [batch, …, features], got [5]");
  EXPECT_EQ(code_of([] {
              return OneLayer{"quantized_dense", {{"units", 3}, {"kernel_initializer", "ones"}}};
            }),
            ErrorCode::invalid_parameter)
      << "there is no kernel to initialise";
}

}  // namespace
}  // namespace stoker::nn
