// Nodes of a file that ask for what is not there, or for more than a host has: errors, whatever the numbers.
#include <limits>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using Whole = std::vector<std::int64_t>;
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

class Refused : public OnnxTest {
 protected:
  using Inputs = std::vector<std::pair<std::string, Value>>;
  ErrorCode code_of(const std::string& op, const Inputs& inputs,
                    std::vector<Attribute> attributes = {}) {
    return refusal([&] { (void)of_node(op, inputs, std::move(attributes)); }).code();
  }
  static Value whole_numbers(const Whole& values) { return Known::integers(values); }
  static Value number(double value, ElementType type = ElementType::f32) {
    return Known::reals({&value, 1}, Shape{}, type);
  }
};

TEST_F(Refused, blocks_and_parts_that_the_operand_does_not_have) {
  const Attribute huge = named("blocksize", std::int64_t{1} << 32);
  EXPECT_EQ(code_of("DepthToSpace", {{"x", ones({1, 4, 1, 1})}}, {huge}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("SpaceToDepth", {{"x", ones({1, 1, 0, 0})}}, {huge}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("Split", {{"x", ones({4})}}, {named("num_outputs", highest)}),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of("Split", {{"x", ones({4})}, {"sizes", whole_numbers({highest, highest, 6})}}),
            ErrorCode::shape_mismatch);
}

TEST_F(Refused, parts_that_are_not_equal_where_none_are_said) {
  const auto split = [&](std::int64_t extent, std::int64_t opset) {
    GraphBuilder builder;
    builder.opset = opset;
    return builder.input("x", {"n"})
        .node("Split", {"x"}, {"a", "b"})
        .output("a")
        .output("b")
        .load(here())
        .run({{"x", ones({extent})}})
        .get();
  };
  for (const std::int64_t opset : {2, 13}) {
    EXPECT_EQ(split(4, opset).at("b").shape(), Shape{2});
    EXPECT_EQ(refusal([&] { (void)split(3, opset); }).code(), ErrorCode::shape_mismatch);
  }
  EXPECT_EQ(split(3, 18).at("b").shape(), Shape{1}) << "the last one is smaller, from 18 on";
}

TEST_F(Refused, a_join_that_does_not_say_along_which_axis) {
  const auto join = [&](std::int64_t opset) {
    return of_node("Concat", {{"a", ones({1, 2})}, {"b", ones({1, 2})}}, {}, opset);
  };
  const Error missing = refusal([&] { (void)join(4); });
  EXPECT_EQ(missing.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string{missing.what()}.find("the attribute 'axis' is missing"), std::string::npos);
  EXPECT_EQ(join(3).at("y").shape(), (Shape{1, 4}));
}

TEST_F(Refused, heads_that_are_not_there) {
  const Tensor q = ones({1, 2, 3, 4});
  const Tensor none = zeros({1, 0, 3, 4});
  const auto attends = [&](const Tensor& k, const Tensor& v) {
    try {
      (void)of_node("Attention", {{"q", q}, {"k", k}, {"v", v}}, {}, 23);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(attends(none, none), ErrorCode::shape_mismatch);
  EXPECT_EQ(attends(q, none), ErrorCode::shape_mismatch);
  EXPECT_EQ(attends(ones({1, 3, 3, 4}), ones({1, 3, 3, 4})), ErrorCode::shape_mismatch);
}

TEST_F(Refused, a_mask_without_axes) {
  const Tensor x = ones({1, 2, 3, 4});
  EXPECT_EQ(
      refusal([&] {
        (void)of_node("Attention", {{"q", x}, {"k", x}, {"v", x}, {"mask", ones({})}}, {}, 23);
      }).code(),
      ErrorCode::shape_mismatch);
}

TEST_F(Refused, updates_that_the_cache_has_no_room_for) {
  const Tensor cache = zeros({2, 3, 4});
  for (const Shape& shape :
       {Shape{}, Shape{2, 3}, Shape{1, 2, 3, 4}, Shape{3, 1, 4}, Shape{2, 1, 5}, Shape{2, 4, 4}})
    EXPECT_EQ(refusal([&] {
                (void)of_node("TensorScatter", {{"x", cache}, {"u", ones(shape)}}, {}, 24);
              }).code(),
              ErrorCode::shape_mismatch);
}

TEST_F(Refused, transforms_far_longer_than_their_signal) {
  const Tensor signal = ones({1, 8, 1});
  EXPECT_EQ(code_of("DFT", {{"x", signal},
                            {"n", Known::integer(std::int64_t{1} << 40)},
                            {"axis", Known::integer(1)}}),
            ErrorCode::limit_exceeded);
}

TEST_F(Refused, windows_of_more_numbers_than_a_host_computes) {
  EXPECT_EQ(code_of("HannWindow", {{"n", Known::integer((std::int64_t{1} << 24) + 1)}}),
            ErrorCode::invalid_parameter);
}

TEST_F(Refused, more_samples_of_a_box_than_are_worth_it) {
  const auto of = [&](std::int64_t bins, std::int64_t samples) {
    return code_of(
        "RoiAlign",
        {{"x", ones({1, 1, 4, 4})}, {"boxes", ones({1, 4})}, {"i", zeros({1}, DType::s64)}},
        {named("output_height", bins), named("output_width", bins),
         named("sampling_ratio", samples)});
  };
  EXPECT_EQ(of(1, 4096), ErrorCode::limit_exceeded);
  EXPECT_EQ(of(1024, 4), ErrorCode::limit_exceeded);
}

TEST_F(Refused, coordinates_of_axes_that_are_not_there) {
  const Tensor x = ones({3, 4});
  const auto wide = [](std::int64_t n) { return zeros({1, n}, DType::s64); };
  EXPECT_EQ(code_of("GatherND", {{"x", x}, {"i", wide(1000)}}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("GatherND", {{"x", x}, {"i", wide(1)}}, {named("batch_dims", lowest)}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("GatherND", {{"x", x}, {"i", zeros({}, DType::s64)}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("ScatterND", {{"x", x}, {"i", wide(1000)}, {"u", ones({1})}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("GatherElements", {{"x", x}, {"i", zeros({1}, DType::s64)}}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("ScatterElements", {{"x", x}, {"i", wide(5)}, {"u", ones({1, 5})}}),
            ErrorCode::shape_mismatch);
}

TEST_F(Refused, indices_of_an_empty_axis) {
  const std::vector<Attribute> multiplies{named("reduction", std::string{"mul"})};
  const Tensor none = zeros({0});
  EXPECT_EQ(code_of("ScatterND", {{"x", none}, {"i", zeros({1, 1}, DType::s64)}, {"u", ones({1})}},
                    multiplies),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("ScatterElements",
                    {{"x", none}, {"i", zeros({1}, DType::s64)}, {"u", ones({1})}}, multiplies),
            ErrorCode::invalid_argument);
}

TEST_F(Refused, known_coordinates_out_of_range) {
  const auto of = [&](const char* op, bool updates) {
    GraphBuilder builder;
    builder.input("x", {3}).constant("i", integers({7}));
    if (updates)
      builder.constant("u", reals({1})).node(op, {"x", "i", "u"}, {"y"});
    else
      builder.node(op, {"x", "i"}, {"y"});
    const Model model = builder.output("y").load(here());
    return refusal([&] { (void)model.run({{"x", ones({3})}}).get(); }).code();
  };
  EXPECT_EQ(of("GatherND", false), ErrorCode::invalid_argument);
  EXPECT_EQ(of("GatherElements", false), ErrorCode::invalid_argument);
  EXPECT_EQ(of("ScatterElements", true), ErrorCode::invalid_argument);
}

TEST_F(Refused, more_than_a_host_computes) {
  const Tensor x = ones({1, 1, 4});
  EXPECT_EQ(code_of("Pad", {{"x", ones({4})}, {"p", whole_numbers({0, std::int64_t{1} << 40})}},
                    {named("mode", std::string{"edge"})}),
            ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of("Pad", {{"x", ones({4})}, {"p", whole_numbers({lowest, 0})}},
                    {named("mode", std::string{"wrap"})}),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of("AveragePool", {{"x", x}},
                    {named("kernel_shape", Whole{2}), named("pads", Whole{1 << 30, 1 << 30})}),
            ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of("AveragePool", {{"x", x}},
                    {named("kernel_shape", Whole{highest}), named("dilations", Whole{highest})}),
            ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of("Range", {{"a", Known::integer(lowest)},
                              {"b", Known::integer(highest)},
                              {"c", Known::integer(1)}}),
            ErrorCode::limit_exceeded);
  EXPECT_EQ(
      code_of("Range",
              {{"a", Known::integer(0)}, {"b", Known::integer(lowest)}, {"c", Known::integer(-1)}}),
      ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of("SplitToSequence", {{"x", zeros({std::int64_t{1} << 22})}}),
            ErrorCode::limit_exceeded);
}

TEST_F(Refused, many_outputs_of_a_pool_with_places) {
  const Model model =
      GraphBuilder{}
          .input("x", {1, 1, "n"})
          .node("MaxPool", {"x"}, {"y", "places"}, {named("kernel_shape", Whole{100000})})
          .output("places")
          .load(here());
  const Error error = refusal([&] { (void)model.run({{"x", ones({1, 1, 100000})}}).get(); });
  EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
}

TEST_F(Refused, scales_and_modes_of_resize_that_are_none) {
  const Value x = ones({1, 1, 4});
  const auto scaled = [&](double scale) {
    const std::vector<double> scales{1, 1, scale};
    return Inputs{{"x", x}, {"roi", Known{}}, {"scales", Known::reals(scales, Shape{3})}};
  };
  EXPECT_EQ(code_of("Resize", scaled(1.0e8)), ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of("Resize", scaled(std::numeric_limits<double>::quiet_NaN())),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of("Resize", scaled(-1)), ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of("Resize", scaled(2), {named("nearest_mode", std::string{"none"})}),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(
      code_of("Resize", scaled(2), {named("coordinate_transformation_mode", std::string{"none"})}),
      ErrorCode::invalid_parameter);
}

TEST_F(Refused, crops_of_resize_whose_edges_are_no_places) {
  const Value x = ones({1, 1, 4});
  const auto cropped = [&](double edge) {
    return Inputs{{"x", x},
                  {"roi", Known::reals(std::vector<double>{0, 0, edge, 1, 1, 1}, Shape{6})},
                  {"scales", Known::reals(std::vector<double>{1, 1, 2}, Shape{3})}};
  };
  for (const double edge : {std::numeric_limits<double>::quiet_NaN(),
                            -std::numeric_limits<double>::infinity(), 1.0e300})
    for (const char* const mode : {"nearest", "linear"})
      EXPECT_EQ(code_of("Resize", cropped(edge),
                        {named("coordinate_transformation_mode", std::string{"tf_crop_and_resize"}),
                         named("mode", std::string{mode})}),
                ErrorCode::invalid_parameter);
}

TEST_F(Refused, attributes_that_lead_out_of_their_lists) {
  std::vector<Attribute> grams{
      named("min_gram_length", std::int64_t{1}), named("max_gram_length", std::int64_t{1}),
      named("max_skip_count", std::int64_t{0}),  named("mode", std::string{"TF"}),
      named("ngram_counts", Whole{0}),           named("pool_int64s", Whole{1, 2})};
  const auto with = [&](Attribute one) {
    std::vector<Attribute> all = grams;
    all.push_back(std::move(one));
    return all;
  };
  const Inputs words{{"x", whole_numbers({1, 2})}};
  EXPECT_EQ(code_of("TfIdfVectorizer", words, with(named("ngram_indexes", Whole{-100000, 1}))),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of("TfIdfVectorizer", words, with(named("ngram_indexes", Whole{highest, 1}))),
            ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of("ConstantOfShape", {{"x", whole_numbers({3})}}, {named("value", reals({}))}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("MelWeightMatrix", {{"bands", Known::integer(4)},
                                        {"length", Known::integer(16)},
                                        {"rate", Known::integer(8)},
                                        {"low", number(-500)},
                                        {"high", number(4)}}),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of("Col2Im",
                    {{"x", ones({1, 4, 1})},
                     {"image", whole_numbers({2, 2})},
                     {"block", whole_numbers({2, 2})}},
                    {named("strides", Whole{0, 0})}),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(code_of("Einsum", {{"x", ones({2, 2})}}, {named("equation", std::string{"ij->ijk"})}),
            ErrorCode::invalid_parameter);
  EXPECT_EQ(
      code_of("OneHot",
              {{"x", whole_numbers({0})}, {"depth", Known::integer(2)}, {"values", ones({1})}}),
      ErrorCode::shape_mismatch);
}

TEST_F(Refused, a_long_search_for_words_ends) {
  const std::vector<Attribute> attributes{
      named("min_gram_length", std::int64_t{1}), named("max_gram_length", highest),
      named("max_skip_count", highest),          named("mode", std::string{"TF"}),
      named("ngram_counts", Whole{0, 2}),        named("ngram_indexes", Whole{0, 1, 2}),
      named("pool_int64s", Whole{1, 2, 1, 2})};
  EXPECT_EQ(floats(of_node("TfIdfVectorizer", {{"x", whole_numbers({1, 5, 2})}}, attributes), "y"),
            (std::vector<float>{1, 1, 1}));  // 1, 2, and "1 2" with a skip
}

TEST_F(Refused, a_label_of_another_type_for_what_is_not_listed) {
  const auto encode = [&](Attribute values, const TensorData& fallback) {
    GraphBuilder builder;
    builder.graph.inputs.push_back({.name = "x", .type = {}, .doc = {}});
    builder.node(
        "LabelEncoder", {"x"}, {"y"},
        {named("keys_int64s", Whole{1}), std::move(values), named("default_tensor", fallback)},
        "ai.onnx.ml");
    builder.graph.nodes.back().opset = 4;
    const Model model = builder.output("y").load(here());
    return refusal([&] { (void)model.run({{"x", whole_numbers({9})}}).get(); }).code();
  };
  const TensorData text{.type = ElementType::string, .dims = {1}, .bytes = {}, .strings = {"a"}};
  EXPECT_EQ(encode(named("values_int64s", Whole{4}), text), ErrorCode::invalid_argument);
  EXPECT_EQ(encode(named("values_strings", std::vector<std::string>{"b"}), integers({1})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(encode(named("values_int64s", Whole{4, 5}), integers({1})),
            ErrorCode::invalid_argument);
}

TEST_F(Refused, weights_of_fewer_directions_than_the_network_has) {
  EXPECT_EQ(code_of("RNN", {{"x", ones({2, 1, 3})}, {"w", ones({1, 4, 3})}, {"r", ones({1, 4, 4})}},
                    {named("direction", std::string{"bidirectional"})}),
            ErrorCode::shape_mismatch);
  EXPECT_EQ(code_of("RNN", {{"x", ones({3})}, {"w", ones({1})}, {"r", ones({1})}}),
            ErrorCode::shape_mismatch);
}

TEST_F(Refused, boxes_that_are_none) {
  const Tensor image = ones({1, 1, 4, 3});
  const auto align = [&](const Value& boxes, const Value& of, std::vector<Attribute> attributes) {
    return of_node("RoiAlign", {{"x", image}, {"boxes", boxes}, {"of", of}}, std::move(attributes))
        .at("y")
        .tensor()
        .to_vector<float>();
  };
  const Value of_first = Known::integers(Whole{0});
  const auto code = [&](const Value& boxes, const Value& of, std::vector<Attribute> attributes) {
    return refusal([&] { (void)align(boxes, of, std::move(attributes)); }).code();
  };
  EXPECT_EQ(code(ones({1, 3}), of_first, {}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code(ones({2, 4}), of_first, {}), ErrorCode::shape_mismatch);
  EXPECT_EQ(code(ones({1, 4}), of_first, {named("sampling_ratio", highest)}),
            ErrorCode::invalid_parameter);
  // Of as many samples as the box is pixels long, only those in the image are visited.
  EXPECT_EQ(align(tensor(std::vector<float>{0, 0, 1e9F, 1e9F}, {1, 4}), of_first, {}),
            std::vector<float>{0});
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(align(tensor(std::vector<float>{0, none, 2, 2}, {1, 4}), of_first,
                  {named("sampling_ratio", std::int64_t{2})}),
            std::vector<float>{0});
  const std::vector<Attribute> pooled{named("pooled_shape", Whole{1, 1})};
  const Tensor odd = tensor(std::vector<float>{none, -1e30F, none, 1e30F, 1e30F}, {1, 5});
  EXPECT_EQ(floats(of_node("MaxRoiPool", {{"x", image}, {"boxes", odd}}, pooled), "y"),
            std::vector<float>{1});
}

}  // namespace
}  // namespace stoker::onnx
