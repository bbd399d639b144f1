// Numbers at the ends of their types.
#include <cmath>
#include <limits>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using Extremes = OnnxTest;
using Whole = std::vector<std::int64_t>;
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST_F(Extremes, a_single_element_may_have_any_step) {
  const NamedValues out = of_node("Slice", {{"x", tensor({0, 1, 2, 3})},
                                            {"starts", Known::integers(Whole{2})},
                                            {"ends", Known::integers(Whole{least})},
                                            {"axes", Known::integers(Whole{0})},
                                            {"steps", Known::integers(Whole{least})}});
  EXPECT_EQ(out.at("y").tensor().to_vector<int>(), std::vector{2});
}

TEST_F(Extremes, a_range_may_span_all_integers) {
  const NamedValues out = of_node(
      "Range",
      {{"a", Known::integer(least)}, {"b", Known::integer(most)}, {"c", Known::integer(most)}});
  EXPECT_EQ(whole(out, "y"), (Whole{least, -1, most - 1}));
}

TEST_F(Extremes, a_long_range_of_doubles_is_one_of_doubles) {
  const auto number = [](double value) {
    return Known::reals({&value, 1}, Shape{}, ElementType::f64);
  };
  const NamedValues out =
      of_node("Range", {{"a", number(1)}, {"b", number(2)}, {"c", number(1.0 / 4096)}});
  EXPECT_EQ(out.at("y").tensor().to_vector<double>()[4095], 1 + 4095.0 / 4096);
  const NamedValues fine =
      of_node("Range", {{"a", number(1)}, {"b", number(1 + 2e-7)}, {"c", number(1e-10)}});
  EXPECT_DOUBLE_EQ(fine.at("y").tensor().to_vector<double>()[1500], 1 + 1500 * 1e-10);
}

TEST_F(Extremes, large_unsigned_numbers_stay_what_they_are) {
  constexpr std::uint64_t large = std::numeric_limits<std::uint64_t>::max() - 4;
  TensorData value = integers({static_cast<std::int64_t>(large)});
  value.type = ElementType::u64;
  const NamedValues filled =
      of_node("ConstantOfShape", {{"x", Known::integers(Whole{2000})}}, {named("value", value)});
  EXPECT_EQ(filled.at("y").tensor().to_vector<std::uint64_t>()[1999], large);

  const NamedValues text = of_node("Cast", {{"x", Known{value}}}, {named("to", std::int64_t{8})});
  EXPECT_EQ(text.at("y").texts().strings.at(0), std::to_string(large));
  const NamedValues back = of_node("Cast", {{"x", text.at("y")}}, {named("to", std::int64_t{13})});
  EXPECT_EQ(back.at("y").tensor().to_vector<std::uint64_t>()[0], large);
}

TEST_F(Extremes, sums_of_known_integers_wrap) {
  GraphBuilder builder;
  builder.constant("a", integers({most}))
      .constant("b", integers({1}))
      .node("Add", {"a", "b"}, {"y"})
      .output("y");
  EXPECT_EQ(whole(builder.load(here()).run({}).get(), "y"), Whole{least});
}

TEST_F(Extremes, diagonals_far_away_leave_all_or_nothing) {
  const auto part = [&](std::int64_t k, std::int64_t upper) {
    return floats(
        of_node("Trilu", {{"x", ones({2, 2})}, {"k", Known::integer(k)}}, {named("upper", upper)}),
        "y");
  };
  const std::vector<float> all(4, 1);
  const std::vector<float> none(4, 0);
  EXPECT_EQ(part(most, 1), none);
  EXPECT_EQ(part(least, 1), all);
  EXPECT_EQ(part(most, 0), all);
  EXPECT_EQ(part(least, 0), none);
}

TEST_F(Extremes, a_window_may_be_far_longer_than_its_operand) {
  const std::vector<Attribute> window{
      named("kernel_shape", Whole{2, (std::int64_t{1} << 31) - 1}),
      named("auto_pad", std::string{"SAME_LOWER"}),
      named("p", std::int64_t{1}),
  };
  const Tensor rows = reshape(tensor({1.0F, 2.0F, 4.0F, 8.0F}), {1, 1, 2, 2});
  // The upper row has only padding above it; each window holds its whole row.
  EXPECT_EQ(floats(of_node("LpPool", {{"x", rows}}, window), "y"),
            (std::vector<float>{3, 3, 15, 15}));
  const auto mean = of_node("AveragePool", {{"x", rows}}, {window.begin(), window.end() - 1});
  EXPECT_EQ(floats(mean, "y"), (std::vector<float>{1.5, 1.5, 3.75, 3.75}));
}

TEST_F(Extremes, images_without_columns_have_no_windows) {
  const NamedValues out = of_node("AveragePool", {{"x", zeros({1, 1, 3, 0})}},
                                  {named("kernel_shape", std::vector<std::int64_t>{2, 2}),
                                   named("strides", std::vector<std::int64_t>{2, 2}),
                                   named("auto_pad", std::string{"SAME_UPPER"})});
  EXPECT_EQ(out.at("y").shape(), (Shape{1, 1, 2, 0}));
}

TEST_F(Extremes, nothing_has_no_unique_elements) {
  const NamedValues out = of_node("Unique", {{"x", zeros({0})}});
  EXPECT_EQ(out.at("y").shape(), Shape{0});
}

TEST_F(Extremes, a_deviation_of_equal_numbers_is_zero) {
  const Tensor x = full({1, 1, 7, 9}, 1000.1, DType::f32);
  for (const float one : floats(of_node("MeanVarianceNormalization", {{"x", x}}), "y"))
    EXPECT_FALSE(std::isnan(one));
  const std::vector<float> far{100000, 100001, 100002, 100003};
  const auto y = floats(of_node("MeanVarianceNormalization",
                                {{"x", tensor(std::span<const float>{far}, {1, 1, 4, 1})}}),
                        "y");
  EXPECT_NEAR(y[3], 1.5 / std::sqrt(1.25), 1e-3);
}

}  // namespace
}  // namespace stoker::onnx
