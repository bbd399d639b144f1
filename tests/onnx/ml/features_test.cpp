// Features that are scaled, filled, compared, joined and spread, and labels that are exchanged, against ONNX Runtime.
#include "stoker/tests/onnx/ml/ml_test.hpp"

namespace stoker::onnx {
namespace {

using Features = MlTest;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST_F(Features, scaler_subtracts_and_multiplies) {
  const Attributes each{named("offset", std::vector<float>{1, 2, 3}),
                        named("scale", std::vector<float>{0.5F, 2, 3})};
  const Attributes one{named("offset", Floats{1}), named("scale", Floats{0.5F})};
  const Whole numbers{1, 2, 3, 4, 5, 6};
  for (const Value& x : {Value{rows({2, 3}, {1, 2, 3, 4, 5, 6})}, whole_numbers({2, 3}, numbers),
                         whole_numbers({2, 3}, numbers, ElementType::s32)}) {
    EXPECT_EQ(reals("Scaler", {x}, each), (Floats{0, 0, 0, 1.5F, 6, 9}));
    EXPECT_EQ(reals("Scaler", {x}, one), (Floats{0, 0.5F, 1, 1.5F, 2, 2.5F}));
  }
  EXPECT_EQ(reals("Scaler", {rows({3}, {1, 2, 3})}, each), (Floats{0, 0, 0}));
  EXPECT_EQ(code("Scaler", {ones({2, 2})}, each), ErrorCode::shape_mismatch);
  EXPECT_EQ(code("Scaler", {ones({1, 2, 3})}, each), ErrorCode::shape_mismatch);
}

TEST_F(Features, normalizer_divides_rows_by_their_norm) {
  const Value x = rows({3, 3}, {1, 2, -3, 0, 0, 0, -1, -2, -4});
  const auto by = [&](const char* norm) { return reals("Normalizer", {x}, {text("norm", norm)}); };
  expect_near(by("MAX"), {0.5, 1, -1.5, 0, 0, 0, 1, 2, 4});
  expect_near(by("L1"), {0.1667, 0.3333, -0.5, 0, 0, 0, -0.1429, -0.2857, -0.5714});
  expect_near(by("L2"), {0.2673, 0.5345, -0.8018, 0, 0, 0, -0.2182, -0.4364, -0.8729});
  expect_near(reals("Normalizer", {whole_numbers({3}, {1, 2, -3})}, {}), {0.5, 1, -1.5});
  EXPECT_EQ(code("Normalizer", {x}, {text("norm", "L3")}), ErrorCode::invalid_parameter);
  EXPECT_EQ(code("Normalizer", {ones({1, 2, 2})}, {}), ErrorCode::shape_mismatch);
}

TEST_F(Features, imputer_fills_what_is_missing) {
  const Attributes two{named("imputed_value_floats", Floats{7, 8})};
  const Attribute missing = named("replaced_value_float", nan);
  const Value holes = rows({2, 2}, {1, nan, 3, nan});
  EXPECT_EQ(reals("Imputer", {holes}, with(two, {missing})), (Floats{1, 8, 3, 8}));
  EXPECT_EQ(reals("Imputer", {holes}, {named("imputed_value_floats", Floats{7}), missing}),
            (Floats{1, 7, 3, 7}));
  EXPECT_EQ(reals("Imputer", {rows({2, 2}, {1, 0, 3, -1})}, two), (Floats{1, 8, 3, -1}));
  EXPECT_EQ(whole(run("Imputer", {whole_numbers({2, 2}, {1, 0, 3, -1})},
                      {named("imputed_value_int64s", Whole{7, 8}),
                       named("replaced_value_int64", std::int64_t{-1})}),
                  "y"),
            (Whole{1, 0, 3, 8}));
  EXPECT_EQ(code("Imputer", {ones({2, 3})}, two), ErrorCode::shape_mismatch);
  EXPECT_EQ(code("Imputer", {ones({2, 2})}, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code("Imputer", {ones({2, 2})}, with(two, {named("imputed_value_int64s", Whole{1})})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("Imputer", {whole_numbers({2, 2}, {1, 0, 3, -1})}, two),
            ErrorCode::invalid_argument);
}

TEST_F(Features, binarizer_compares_with_its_threshold) {
  EXPECT_EQ(reals("Binarizer", {rows({2, 2}, {1, 2, 3, 4})}, {named("threshold", 2.0F)}),
            (Floats{0, 0, 1, 1}));
  EXPECT_EQ(reals("Binarizer", {rows({3}, {-1, 0, 0.5F})}, {}), (Floats{0, 0, 1}));
}

TEST_F(Features, feature_vectorizer_cuts_off_and_fills_up) {
  const Value a = rows({2, 2}, {1, 2, 3, 4}), b = rows({2, 3}, {5, 6, 7, 8, 9, 10});
  const auto widths = [](const Whole& all) { return Attributes{named("inputdimensions", all)}; };
  EXPECT_EQ(reals("FeatureVectorizer", {a, b}, widths({3, 2})),
            (Floats{1, 2, 0, 5, 6, 3, 4, 0, 8, 9}));
  EXPECT_EQ(reals("FeatureVectorizer", {whole_numbers({2}, {1, 2}), whole_numbers({3}, {3, 4, 5})},
                  widths({2, 3})),
            (Floats{1, 2, 3, 4, 5}));
  EXPECT_EQ(reals("FeatureVectorizer", {rows({2, 1, 2}, {1, 2, 3, 4}), rows({2, 1}, {5, 6})},
                  widths({2, 1})),
            (Floats{1, 2, 5, 3, 4, 6}));
  EXPECT_EQ(code("FeatureVectorizer", {a, b}, widths({2})), ErrorCode::invalid_argument);
  EXPECT_EQ(code("FeatureVectorizer", {a, ones({1, 1})}, widths({2, 1})),
            ErrorCode::shape_mismatch);
}

TEST_F(Features, array_feature_extractor_takes_places_of_the_last_axis) {
  const Value x = rows({2, 3}, {1, 2, 3, 4, 5, 6});
  const Value places = whole_numbers({2}, {2, 0});
  EXPECT_EQ(reals("ArrayFeatureExtractor", {x, places}, {}), (Floats{3, 1, 6, 4}));
  EXPECT_EQ(reals("ArrayFeatureExtractor", {x, whole_numbers({1, 2}, {2, 0})}, {}),
            (Floats{3, 1, 6, 4}));
  EXPECT_EQ(run("ArrayFeatureExtractor", {rows({3}, {1, 2, 3}), places}, {}).at("y").shape(),
            (Shape{1, 2}));
  const NamedValues out =
      run("ArrayFeatureExtractor",
          {words({2, 3}, {"a", "b", "c", "d", "e", "f"}), whole_numbers({1}, {1})}, {});
  EXPECT_EQ(out.at("y").texts().strings, (Words{"b", "e"}));
  EXPECT_EQ(code("ArrayFeatureExtractor", {x, whole_numbers({0}, {})}, {}),
            ErrorCode::shape_mismatch);
}

TEST_F(Features, a_constant_place_that_is_not_there_is_refused) {
  for (const std::int64_t place : {-1, 3}) {
    GraphBuilder builder;
    builder.input("x", {2, 3})
        .constant("at", integers({place}))
        .output("y")
        .node("ArrayFeatureExtractor", {"x", "at"}, {"y"}, {}, "ai.onnx.ml");
    const Model model = builder.load(here());
    EXPECT_EQ(refusal([&] {
                (void)model.run({{"x", ones({2, 3})}}).get();
              }).code(),
              ErrorCode::invalid_argument);
  }
}

TEST_F(Features, one_hot_encoder_has_an_axis_of_categories) {
  const Attributes cats{named("cats_int64s", Whole{1, 3, 5})};
  const Floats expected{1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1};
  const Value floating = rows({2, 2}, {1, 2, 3, 5});
  EXPECT_EQ(reals("OneHotEncoder", {floating}, cats), expected);
  EXPECT_EQ(reals("OneHotEncoder", {whole_numbers({2, 2}, {1, 2, 3, 5})}, cats), expected);
  EXPECT_EQ(reals("OneHotEncoder", {rows({3}, {1.5F, -1.5F, 3.99F})},
                  {named("cats_int64s", Whole{1, 3, -1})}),
            (Floats{1, 0, 0, 0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(reals("OneHotEncoder", {words({3}, {"a", "c", "b"})},
                  {named("cats_strings", Words{"a", "b"})}),
            (Floats{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(reals("OneHotEncoder", {rows({2}, {nan, 0})}, {named("cats_int64s", Whole{0})}),
            (Floats{0, 1}));
  const Attribute strict = named("zeros", std::int64_t{0});
  EXPECT_EQ(reals("OneHotEncoder", {rows({2}, {1, 5})}, with(cats, {strict})),
            (Floats{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(code("OneHotEncoder", {floating}, with(cats, {strict})), ErrorCode::invalid_argument);
  EXPECT_EQ(
      code("OneHotEncoder", {words({1}, {"c"})}, {named("cats_strings", Words{"a", "b"}), strict}),
      ErrorCode::invalid_argument);
  EXPECT_EQ(code("OneHotEncoder", {floating}, {named("cats_int64s", Whole{1, 3, 1})}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("OneHotEncoder", {floating}, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code("OneHotEncoder", {floating}, {named("cats_strings", Words{"a"})}),
            ErrorCode::invalid_argument);
}

TEST_F(Features, categories_are_words_or_integers) {
  const Attributes cats{named("cats_strings", Words{"a", "b"}), named("cats_int64s", Whole{5, 6})};
  EXPECT_EQ(whole(run("CategoryMapper", {words({2, 2}, {"a", "z", "b", "a"})}, cats), "y"),
            (Whole{5, -1, 6, 5}));
  EXPECT_EQ(run("CategoryMapper", {whole_numbers({3}, {6, 7, 5})}, cats).at("y").texts().strings,
            (Words{"b", "_Unused", "a"}));
  const Attributes defaults =
      with(cats, {named("default_int64", std::int64_t{44}), text("default_string", "q")});
  EXPECT_EQ(whole(run("CategoryMapper", {words({2}, {"z", "b"})}, defaults), "y"), (Whole{44, 6}));
  EXPECT_EQ(run("CategoryMapper", {whole_numbers({2}, {6, 7})}, defaults).at("y").texts().strings,
            (Words{"b", "q"}));
  EXPECT_EQ(code("CategoryMapper", {words({1}, {"a"})},
                 {named("cats_strings", Words{"a"}), named("cats_int64s", Whole{5, 6})}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("CategoryMapper", {words({1}, {"a"})}, {named("cats_strings", Words{"a"})}),
            ErrorCode::invalid_argument);
}

TEST_F(Features, keys_are_compared_with_labels_of_their_kind) {
  const Attribute values = named("values_int64s", Whole{7, 8});
  const Attributes floats_{named("keys_floats", Floats{nan, 0}), values};
  EXPECT_EQ(whole(run("LabelEncoder", {rows({5}, {nan, -nan, 0, -0.0F, 1})}, floats_, 1, 4), "y"),
            (Whole{7, 7, 8, 8, -1}));
  const Attributes integers_{named("keys_int64s", Whole{1, 2}), values};
  EXPECT_EQ(whole(run("LabelEncoder", {whole_numbers({2}, {2, 3})}, integers_, 1, 4), "y"),
            (Whole{8, -1}));
  const Attributes texts{named("keys_strings", Words{"1", "2"}), values};
  const auto refused = [&](const Value& x, const Attributes& keys) {
    return code("LabelEncoder", {x}, keys, 4) == ErrorCode::dtype_mismatch;
  };
  EXPECT_TRUE(refused(words({1}, {"1"}), integers_));
  EXPECT_TRUE(refused(rows({1}, {1}), integers_));
  EXPECT_TRUE(refused(words({1}, {"0"}), floats_));
  EXPECT_TRUE(refused(whole_numbers({1}, {0}), floats_));
  EXPECT_TRUE(refused(whole_numbers({1}, {1}), texts));
  EXPECT_EQ(code("CategoryMapper", {rows({1}, {1})},
                 {named("cats_strings", Words{"a"}), named("cats_int64s", Whole{1})}),
            ErrorCode::dtype_mismatch);
}

TEST_F(Features, the_first_label_encoder_knew_words_and_their_places) {
  const Attributes classes{named("classes_strings", Words{"a", "b"})};
  EXPECT_EQ(whole(run("LabelEncoder", {words({2}, {"b", "z"})}, classes, 1, 1), "y"),
            (Whole{1, -1}));
  EXPECT_EQ(
      run("LabelEncoder", {whole_numbers({3}, {1, 0, 9})}, classes, 1, 1).at("y").texts().strings,
      (Words{"b", "a", "_Unused"}));
}

}  // namespace
}  // namespace stoker::onnx
