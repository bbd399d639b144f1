// Tensors out of text, cut into batches, filled.
#include "stoker/api/tensor/core/text.hpp"
#include "stoker/api/tensor/views/batches.hpp"
#include "stoker/tests/tensor/io/files_fixture.hpp"

namespace stoker {
namespace {

using Conversions = Files;

TEST_P(Conversions, batches_repeat_or_discard_what_is_left) {
  const Tensor x = reshape(iota({10}), {5, 2});
  const auto repeated = to_batched(x, 2);
  ASSERT_EQ(repeated.size(), 3U);
  expect_values<int>(repeated[1], {2, 2}, {4, 5, 6, 7});
  expect_values<int>(repeated[2], {2, 2}, {8, 9, 0, 1});
  EXPECT_EQ(to_batched(x, 2, Leftover::discard).size(), 2U);
  EXPECT_EQ(to_batched(x, 5).size(), 1U);
  EXPECT_EQ(to_batched(zeros({4, 0}), 2).size(), 2U);
  EXPECT_EQ(error_of([&] { return to_batched(x, 6); }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([&] { return to_batched(x, 0); }).code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error_of([] { return to_batched(tensor(1), 1); }).code(), ErrorCode::shape_mismatch);
}

TEST_P(Conversions, text_becomes_vectors_and_matrices) {
  using namespace stoker::literals;
  expect_values<int>("1 -2\n3, 4"_vec, {4}, {1, -2, 3, 4});
  EXPECT_EQ("1 2"_vec.dtype(), DType::s32);
  expect_values<float>("\n 1 2.5\n\n -3 +1e2 \n"_mat, {2, 2}, {1, 2.5F, -3, 100});
  const auto special = "Inf -inf +Infinity NaN"_vec.to_vector<float>();
  EXPECT_TRUE(std::isinf(special[0]) && special[1] < 0 && special[2] > 0 && std::isnan(special[3]));
  EXPECT_EQ(vector_of("1 2", DType::bf16).dtype(), DType::bf16);
  expect_values<double>(vector_of("18446744073709551615", DType::u64), {1},
                        {18446744073709551615.0});
  EXPECT_EQ(vector_of("").shape(), (Shape{0}));
  EXPECT_EQ(matrix_of(" \n").shape(), (Shape{0, 0}));
  EXPECT_EQ(code_of([] { return vector_of("1 two"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return vector_of("+-1"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return vector_of("300", DType::u8); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return vector_of("1.5", DType::s32); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return matrix_of("1 2\n3"); }), ErrorCode::shape_mismatch);
}

TEST_P(Conversions, full_like_keeps_shape_and_dtype) {
  const Tensor x = full_like(zeros({2, 1}, DType::u8), 7);
  EXPECT_EQ(x.dtype(), DType::u8);
  expect_values<int>(x, {2, 1}, {7, 7});
  EXPECT_EQ(full_like(x, 0.5, DType::f32).dtype(), DType::f32);
}

INSTANTIATE_TEST_SUITE_P(Devices, Conversions, every_device(), device_name);

}  // namespace
}  // namespace stoker
