// Products and convolutions of quantised numbers: mixtures of types, zero points of rows and columns, rounding.
#include "stoker/tests/onnx/operators/microsoft_node.hpp"

namespace stoker::onnx {
namespace {

class Quantized : public MicrosoftTest {
 protected:
  const Tensor a_ = integers_of({255, 0, 128, 3, 4, 5}, {2, 3}, DType::u8);
  const Tensor b_ = integers_of({-128, 127, 1, 0, 5, -6}, {3, 2}, DType::s8);
};

TEST_F(Quantized, products_of_integers_have_zero_points_of_rows_and_columns) {
  using Whole = std::vector<std::int64_t>;
  // (255 0 128; 3 4 5) · (-128 127; 1 0; 5 -6)
  EXPECT_EQ(whole(of_node("MatMulInteger", {{"a", a_}, {"b", b_}}), "y"),
            (Whole{-32000, 31617, -355, 351}));
  const Tensor rows = integers_of({1, 2}, {2}, DType::u8),
               columns = integers_of({3, -4}, {2}, DType::s8);
  // (254 -1 127; 1 2 3) · (-131 131; -2 4; 2 -2)
  EXPECT_EQ(
      whole(of_node("MatMulInteger", {{"a", a_}, {"b", b_}, {"za", rows}, {"zb", columns}}), "y"),
      (Whole{-33018, 33016, -129, 133}));
  // The same with a zero point that has the rank of its operand.
  const Value by_rank = reshape(rows, {2, 1});
  EXPECT_EQ(
      whole(of_node("MatMulInteger", {{"a", a_}, {"b", b_}, {"za", by_rank}, {"zb", columns}}),
            "y"),
      (Whole{-33018, 33016, -129, 133}));
}

TEST_F(Quantized, halves_become_even_and_what_is_beyond_saturates) {
  const Tensor x = integers_of({1, 3, 5, 127, -128}, {1, 5}, DType::s8);
  const Tensor one = integers_of({1}, {1, 1}, DType::s8);
  const Value zero{integers_of({0}, {}, DType::s8)};
  const auto out = of_node("QLinearMatMul", {{"a", reshape(x, {5, 1})},
                                             {"sa", scalar(0.5F)},
                                             {"za", zero},
                                             {"b", one},
                                             {"sb", scalar(4)},
                                             {"zb", zero},
                                             {"sy", scalar(4)},
                                             {"zy", zero}});
  EXPECT_EQ(whole(out, "y"), (std::vector<std::int64_t>{0, 2, 2, 64, -64}));
  const auto large = of_node("QLinearMatMul", {{"a", reshape(x, {5, 1})},
                                               {"sa", scalar(1)},
                                               {"za", zero},
                                               {"b", one},
                                               {"sb", scalar(2)},
                                               {"zb", zero},
                                               {"sy", scalar(1)},
                                               {"zy", zero}});
  EXPECT_EQ(whole(large, "y"), (std::vector<std::int64_t>{2, 6, 10, 127, -128}));
}

TEST_F(Quantized, qgemm_gives_integers_or_floats) {
  const Value za{integers_of({0}, {}, DType::u8)}, zb{integers_of({0}, {}, DType::s8)};
  const Value c{as_type(tensor({100, -100}), DType::s32)};
  const Value turned = transpose(b_);
  const std::vector<Attribute> attributes{named("transB", std::int64_t{1}), named("alpha", 2.0F)};
  const auto floating =
      of_microsoft("QGemm", {a_, scalar(0.5F), za, turned, tensor({1.0, 2.0}), zb, c}, attributes);
  EXPECT_EQ(floats(floating, "y"), (std::vector<float>{-31900, 63034, -255, 502}));
  const auto rounded = of_microsoft("QGemm",
                                    {a_, scalar(0.5F), za, turned, tensor({1.0, 2.0}), zb, c,
                                     scalar(500), Value{integers_of({10}, {}, DType::s8)}},
                                    attributes);
  // -63.8, 126.07, -0.51 and 1.004, plus 10
  EXPECT_EQ(whole(rounded, "y"), (std::vector<std::int64_t>{-54, 127, 9, 11}));
}

TEST_F(Quantized, products_of_integers_become_floats_with_a_bias) {
  const auto out = of_microsoft("MatMulIntegerToFloat", {a_, b_, tensor(0.5F), tensor({1.0, 2.0}),
                                                         none(), none(), tensor({1.0, 2.0})});
  EXPECT_EQ(floats(out, "y"), (std::vector<float>{-15999, 31619, -176.5F, 353}));
}

TEST_F(Quantized, floats_are_quantised_before_a_product) {
  // From 0 to 255 in steps of 1.
  const Tensor a = tensor({{0.0, 255.0, 3.4}});
  const auto out = of_microsoft("DynamicQuantizeMatMul", {a, b_, tensor(0.5F)});
  EXPECT_EQ(floats(out, "y"), (std::vector<float>{135, -9}));
}

}  // namespace
}  // namespace stoker::onnx
