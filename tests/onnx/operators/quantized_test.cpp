// Products and convolutions of quantised numbers: mixtures of types, zero points of rows and columns, rounding.
#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

class Quantized : public OnnxTest {
 protected:
  static Tensor bytes(const std::vector<std::int64_t>& values, const Shape& shape, DType dtype) {
    return as_type(Known::integers(values, shape).tensor(), dtype);
  }
  /// y of one node of com.microsoft.
  NamedValues of_microsoft(const std::string& op,
                           const std::vector<std::pair<std::string, Value>>& inputs,
                           std::vector<Attribute> attributes = {}) {
    GraphBuilder builder;
    std::vector<std::string> names;
    NamedValues values;
    for (const auto& [name, value] : inputs) {
      names.push_back(name);
      if (name.empty()) continue;
      builder.graph.inputs.push_back({.name = name, .type = {}, .doc = {}});
      values.emplace(name, value);
    }
    builder.node(op, names, {"y"}, std::move(attributes), "com.microsoft").output("y");
    return builder.load(here()).run(values).get();
  }
  const Tensor a_ = bytes({255, 0, 128, 3, 4, 5}, {2, 3}, DType::u8);
  const Tensor b_ = bytes({-128, 127, 1, 0, 5, -6}, {3, 2}, DType::s8);
};

TEST_F(Quantized, products_of_integers_have_zero_points_of_rows_and_columns) {
  using Whole = std::vector<std::int64_t>;
  // (255 0 128; 3 4 5) · (-128 127; 1 0; 5 -6)
  EXPECT_EQ(whole(of_node("MatMulInteger", {{"a", a_}, {"b", b_}}), "y"),
            (Whole{-32000, 31617, -355, 351}));
  const Tensor rows = bytes({1, 2}, {2}, DType::u8), columns = bytes({3, -4}, {2}, DType::s8);
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
  const auto scalar = [](float value) { return Value{tensor(value)}; };
  const Tensor x = bytes({1, 3, 5, 127, -128}, {1, 5}, DType::s8);
  const Tensor one = bytes({1}, {1, 1}, DType::s8);
  const Value zero{bytes({0}, {}, DType::s8)};
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
  const auto scalar = [](float value) { return Value{tensor(value)}; };
  const Value za{bytes({0}, {}, DType::u8)}, zb{bytes({0}, {}, DType::s8)};
  const Value c{as_type(tensor({100, -100}), DType::s32)};
  const Value turned = transpose(b_);
  const std::vector<Attribute> attributes{named("transB", std::int64_t{1}), named("alpha", 2.0F)};
  const auto floating = of_microsoft("QGemm",
                                     {{"a", a_},
                                      {"sa", scalar(0.5F)},
                                      {"za", za},
                                      {"b", turned},
                                      {"sb", tensor({1.0, 2.0})},
                                      {"zb", zb},
                                      {"c", c}},
                                     attributes);
  EXPECT_EQ(floats(floating, "y"), (std::vector<float>{-31900, 63034, -255, 502}));
  const auto rounded = of_microsoft("QGemm",
                                    {{"a", a_},
                                     {"sa", scalar(0.5F)},
                                     {"za", za},
                                     {"b", turned},
                                     {"sb", tensor({1.0, 2.0})},
                                     {"zb", zb},
                                     {"c", c},
                                     {"sy", scalar(500)},
                                     {"zy", Value{bytes({10}, {}, DType::s8)}}},
                                    attributes);
  // -63.8, 126.07, -0.51 and 1.004, plus 10
  EXPECT_EQ(whole(rounded, "y"), (std::vector<std::int64_t>{-54, 127, 9, 11}));
}

TEST_F(Quantized, products_of_integers_become_floats_with_a_bias) {
  const auto out = of_microsoft("MatMulIntegerToFloat", {{"a", a_},
                                                         {"b", b_},
                                                         {"sa", tensor(0.5F)},
                                                         {"sb", tensor({1.0, 2.0})},
                                                         {"", {}},
                                                         {"", {}},
                                                         {"bias", tensor({1.0, 2.0})}});
  EXPECT_EQ(floats(out, "y"), (std::vector<float>{-15999, 31619, -176.5F, 353}));
}

TEST_F(Quantized, floats_are_quantised_before_a_product) {
  // From 0 to 255 in steps of 1.
  const Tensor a = tensor({{0.0, 255.0, 3.4}});
  const auto out =
      of_microsoft("DynamicQuantizeMatMul", {{"a", a}, {"b", b_}, {"sb", tensor(0.5F)}});
  EXPECT_EQ(floats(out, "y"), (std::vector<float>{135, -9}));
}

}  // namespace
}  // namespace stoker::onnx
