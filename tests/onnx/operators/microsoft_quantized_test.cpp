// Operators of com.microsoft on 8-bit integers. Halves are among the numbers.
#include "stoker/tests/onnx/operators/microsoft_node.hpp"

namespace stoker::onnx {
namespace {

using Whole = std::vector<std::int64_t>;

/// Of u8 and s8: zero points are given as those of s8.
class MicrosoftQuantized : public MicrosoftTest {
 protected:
  static Value zero(std::int64_t value, DType dtype) {
    return integers_of({value + (dtype == DType::u8 ? 128 : 0)}, {}, dtype);
  }
  /// One operand with scale 0.5 and zero point 3, and what the result has.
  static std::vector<Value> one(const Shape& shape, DType dtype, float scale, std::int64_t to,
                                float from = 0.5F) {
    return {bytes(shape, 1, dtype), scalar(from), zero(3, dtype), scalar(scale), zero(to, dtype)};
  }
  static std::vector<Value> two(DType dtype, float scale) {
    return {bytes({2, 6}, 1, dtype), scalar(0.5F),  zero(3, dtype), bytes({6}, 2, dtype), scalar(1),
            zero(-7, dtype),         scalar(scale), zero(5, dtype)};
  }
};

TEST_F(MicrosoftQuantized, floats_become_integers_of_8_and_16_bits_and_back) {
  const Value x{tensor({-3.0, -0.25, 0.75, 1000.0})};
  auto out = of_microsoft("QuantizeLinear", {x, scalar(0.5F), zero(3, DType::u8)});
  EXPECT_EQ(whole(out, "y"), (Whole{125, 131, 133, 255}));
  out = of_microsoft("QuantizeLinear", {x, scalar(0.5F), integers_of({300}, {}, DType::u16)});
  EXPECT_EQ(whole(out, "y"), (Whole{294, 300, 302, 2300}));
  EXPECT_EQ(out.at("y").type(), ElementType::u16);
  out = of_microsoft("DequantizeLinear", {integers_of({294, 300, 302, 2300}, {4}, DType::u16),
                                          scalar(0.5F), integers_of({300}, {}, DType::u16)});
  EXPECT_EQ(floats(out, "y"), (std::vector<float>{-3, 0, 1, 1000}));
  out = of_microsoft("DequantizeLinear",
                     {integers_of({2, 4, 6, 8}, {2, 2}, DType::s8), Value{tensor({0.5, 2.0})},
                      integers_of({0, 1}, {2}, DType::s8)},
                     {named("axis", std::int64_t{0})});
  EXPECT_EQ(floats(out, "y"), (std::vector<float>{1, 2, 10, 14}));
}

TEST_F(MicrosoftQuantized, sums_and_products_round_with_the_zero_point) {
  auto out = of_microsoft("QLinearAdd", two(DType::u8, 2));
  EXPECT_EQ(whole(out, "y"), (Whole{106, 134, 164, 196, 101, 72, 106, 138, 171, 206, 50, 87}));
  out = of_microsoft("QLinearAdd", two(DType::s8, 2));
  EXPECT_EQ(whole(out, "y"), (Whole{-22, 6, 36, 68, -27, -56, -22, 10, 43, 78, -78, -41}));
  EXPECT_EQ(out.at("y").type(), ElementType::s8);
  out = of_microsoft("QLinearMul", two(DType::u8, 64));
  EXPECT_EQ(whole(out, "y"), (Whole{142, 126, 133, 167, 61, 192, 142, 128, 146, 199, 233, 163}));
  out = of_microsoft("QLinearMul", two(DType::s8, 64));
  EXPECT_EQ(whole(out, "y"), (Whole{14, -2, 5, 39, -67, 64, 14, 0, 18, 71, 105, 35}));
  std::vector<Value> without = two(DType::s8, 64);
  without.pop_back();
  out = of_microsoft("QLinearMul", without);
  EXPECT_EQ(whole(out, "y"), (Whole{9, -7, 0, 34, -72, 59, 9, -5, 13, 66, 100, 30}));
}

TEST_F(MicrosoftQuantized, functions_of_elements_round_before_the_zero_point) {
  auto out = of_microsoft("QLinearSigmoid", one({12}, DType::u8, 1.0F / 256, -128, 0.0625F));
  EXPECT_EQ(whole(out, "y"), (Whole{2, 19, 128, 239, 255, 0, 2, 42, 214, 254, 0, 5}));
  out = of_microsoft("QLinearSigmoid", one({12}, DType::s8, 1.0F / 256, -128, 0.0625F));
  EXPECT_EQ(whole(out, "y"),
            (Whole{-126, -109, 0, 111, 127, -128, -126, -86, 86, 126, -128, -123}));
  const std::vector<Attribute> slope{named("alpha", 0.5F)};
  out = of_microsoft("QLinearLeakyRelu", one({12}, DType::u8, 1, 1), slope);
  EXPECT_EQ(whole(out, "y"), (Whole{109, 119, 129, 150, 172, 98, 110, 123, 142, 169, 99, 113}));
  out = of_microsoft("QLinearLeakyRelu", one({12}, DType::s8, 1, 1), slope);
  EXPECT_EQ(whole(out, "y"), (Whole{-19, -9, 1, 22, 44, -30, -18, -5, 14, 41, -29, -15}));
}

TEST_F(MicrosoftQuantized, softmax_is_that_of_a_version) {
  const auto of = [&](DType dtype, std::int64_t opset) {
    return of_microsoft("QLinearSoftmax", one({2, 2, 3}, dtype, 1.0F / 256, -128, 0.03125F),
                        {named("axis", std::int64_t{1}), named("opset", opset)});
  };
  auto out = of(DType::u8, 13);
  EXPECT_EQ(whole(out, "y"), (Whole{6, 5, 251, 250, 251, 5, 2, 243, 241, 254, 13, 15}));
  out = of(DType::s8, 13);
  EXPECT_EQ(whole(out, "y"),
            (Whole{-122, -123, 123, 122, 123, -123, -126, 115, 113, 126, -115, -113}));
  out = of(DType::u8, 12);
  EXPECT_EQ(whole(out, "y"), (Whole{1, 4, 13, 48, 190, 0, 2, 8, 38, 206, 0, 2}));
  out = of(DType::s8, 12);
  EXPECT_EQ(whole(out, "y"),
            (Whole{-127, -124, -115, -80, 62, -128, -126, -120, -90, 78, -128, -126}));
}

TEST_F(MicrosoftQuantized, tensors_of_several_scales_are_joined) {
  const auto of = [&](DType dtype) {
    return of_microsoft("QLinearConcat",
                        {scalar(1), zero(1, dtype), bytes({2, 3}, 1, dtype), scalar(0.5F),
                         zero(3, dtype), bytes({2, 2}, 2, dtype), scalar(1.5F), zero(-9, dtype)},
                        {named("axis", std::int64_t{1})});
  };
  auto out = of(DType::u8);
  EXPECT_EQ(whole(out, "y"), (Whole{90, 109, 129, 109, 167, 150, 172, 67, 227, 255}));
  out = of(DType::s8);
  EXPECT_EQ(whole(out, "y"), (Whole{-38, -19, 1, -19, 39, 22, 44, -61, 99, 127}));
}

TEST_F(MicrosoftQuantized, elements_of_several_scales_are_chosen) {
  const auto of = [&](DType dtype) {
    const Value condition{integers_of({1, 0, 1, 0, 0, 1}, {6}, DType::u8), ElementType::boolean};
    return of_microsoft("QLinearWhere", {condition, bytes({2, 6}, 1, dtype), scalar(0.5F),
                                         zero(3, dtype), bytes({6}, 2, dtype), scalar(1.5F),
                                         zero(-9, dtype), scalar(1), zero(1, dtype)});
  };
  auto out = of(DType::u8);
  EXPECT_EQ(whole(out, "y"), (Whole{90, 167, 129, 255, 0, 67, 91, 167, 142, 255, 0, 98}));
  out = of(DType::s8);
  EXPECT_EQ(whole(out, "y"), (Whole{-38, 39, 1, 127, -128, -61, -37, 39, 14, 127, -128, -30}));
}

TEST_F(MicrosoftQuantized, pools_round_with_the_zero_point) {
  const Attribute kernel = named("kernel_shape", Whole{2, 2}),
                  pads = named("pads", Whole{1, 0, 0, 0});
  const Attribute counts = named("count_include_pad", std::int64_t{1});
  const Attribute last = named("channels_last", std::int64_t{1});
  const auto of = [&](DType dtype, const Shape& shape, std::vector<Attribute> attributes) {
    return of_microsoft("QLinearAveragePool", one(shape, dtype, 0.5F, 4), std::move(attributes));
  };
  auto out = of(DType::u8, {1, 2, 3, 3}, {kernel, pads});
  EXPECT_EQ(out.at("y").shape(), (Shape{1, 2, 3, 2}));
  EXPECT_EQ(whole(out, "y"), (Whole{73, 112, 134, 112, 138, 122, 112, 41, 136, 132, 130, 196}));
  out = of(DType::s8, {1, 2, 3, 3}, {kernel, pads});
  EXPECT_EQ(whole(out, "y"), (Whole{-55, -16, 6, -16, 10, -6, -16, -87, 8, 4, 2, 68}));
  out = of(DType::s8, {1, 2, 3, 3}, {kernel, pads, counts});
  EXPECT_EQ(whole(out, "y"), (Whole{-26, -6, 6, -16, 10, -6, -6, -42, 8, 4, 2, 68}));
  out = of(DType::u8, {1, 3, 3, 2}, {kernel, last});
  EXPECT_EQ(out.at("y").shape(), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(whole(out, "y"), (Whole{100, 146, 130, 116, 150, 144, 140, 138}));
  out = of(DType::s8, {1, 3, 3, 2}, {kernel, last});
  EXPECT_EQ(whole(out, "y"), (Whole{-28, 18, 2, -12, 22, 16, 12, 10}));
}

TEST_F(MicrosoftQuantized, global_pools_may_have_channels_last) {
  const std::vector<Attribute> last{named("channels_last", std::int64_t{1})};
  auto out = of_microsoft("QLinearGlobalAveragePool", one({2, 2, 2, 3}, DType::u8, 0.25F, 4));
  EXPECT_EQ(out.at("y").shape(), (Shape{2, 2, 1, 1}));
  EXPECT_EQ(whole(out, "y"), (Whole{94, 73, 195, 121}));
  out = of_microsoft("QLinearGlobalAveragePool", one({2, 2, 3, 2}, DType::s8, 0.25F, 4), last);
  EXPECT_EQ(out.at("y").shape(), (Shape{2, 1, 1, 2}));
  EXPECT_EQ(whole(out, "y"), (Whole{-50, -39, 1, 59}));
}

TEST_F(MicrosoftQuantized, what_is_not_8_bit_with_one_scale_is_refused) {
  std::vector<Value> operands = two(DType::u8, 2);
  operands[1] = some({6}, 1);
  EXPECT_NE(refused("QLinearAdd", operands).find("scale: expected [] or [1], got float[6]"),
            std::string::npos);
  operands = two(DType::u8, 2);
  operands[2] = bytes({6}, 1, DType::u8);
  EXPECT_NE(refused("QLinearAdd", operands).find("zero point: expected [] or [1], got uint8[6]"),
            std::string::npos);
  operands = two(DType::u8, 2);
  operands[3] = bytes({6}, 1, DType::s8);
  EXPECT_NE(refused("QLinearAdd", operands).find("expected uint8 as uint8[2,6] is, got int8[6]"),
            std::string::npos);
  operands[0] = operands[3] = some({2, 6}, 1);
  EXPECT_NE(refused("QLinearAdd", operands)
                .find("operand 0 is float, which is none of the types that it takes"),
            std::string::npos);
  EXPECT_NE(refused("QLinearSoftmax", one({2, 3}, DType::u8, 1, 0)).find("opset is missing"),
            std::string::npos);
  EXPECT_NE(refused("QLinearConcat",
                    {scalar(1), zero(0, DType::u8), bytes({2}, 1, DType::u8), scalar(1),
                     zero(0, DType::u8), bytes({2}, 1, DType::u8)},
                    {named("axis", std::int64_t{0})})
                .find("expected a scale and a zero point for each tensor"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker::onnx
