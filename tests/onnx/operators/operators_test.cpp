// What is easily got wrong: versions, rounding, empty tensors, indices from the end.
#include <limits>

#include "stoker/tests/onnx/run/small_models.hpp"

namespace stoker::onnx {
namespace {

using Operators = OnnxTest;
using Floats = std::vector<float>;
using Whole = std::vector<std::int64_t>;

TEST_F(Operators, round_takes_the_even_of_two_neighbours) {
  const Tensor x = tensor({0.5, 1.5, 2.5, -0.5, -1.5, 2.4});
  EXPECT_EQ(floats(of_node("Round", {{"x", x}}), "y"), (Floats{0, 2, 2, -0.0F, -2, 2}));
}

TEST_F(Operators, mod_has_the_sign_of_the_divisor_or_with_fmod_of_the_dividend) {
  const Tensor a = tensor({-7, 7, -7, 7});
  const Tensor b = tensor({3, -3, -3, 3});
  EXPECT_EQ(of_node("Mod", {{"a", a}, {"b", b}}).at("y").tensor().to_vector<int>(),
            (std::vector{2, -2, -1, 1}));
  const auto c = of_node("Mod", {{"a", a}, {"b", b}}, {named("fmod", std::int64_t{1})});
  EXPECT_EQ(c.at("y").tensor().to_vector<int>(), (std::vector{-1, 1, -1, 1}));
}

TEST_F(Operators, sums_of_integers_keep_their_type) {
  const double half = 2147483648;
  const NamedValues out = of_node("ReduceSum", {{"x", full({3}, half, DType::u32)}});
  EXPECT_EQ(out.at("y").type(), ElementType::u32);
  EXPECT_EQ(out.at("y").tensor().item<double>(), half);
}

TEST_F(Operators, a_maximum_of_nothing_is_the_least_of_its_type) {
  const std::vector<Attribute> flat{named("keepdims", std::int64_t{0})};
  const Value axes = Known::integers(Whole{0});
  const auto of = [&](DType dtype) {
    return of_node("ReduceMax", {{"x", zeros({0, 2}, dtype)}, {"axes", axes}}, flat)
        .at("y")
        .tensor();
  };
  EXPECT_EQ(of(DType::f32).to_vector<float>(), Floats(2, -std::numeric_limits<float>::infinity()));
  EXPECT_EQ(of(DType::s8).to_vector<int>(), (std::vector{-128, -128}));
}

TEST_F(Operators, softmax_counted_the_rest_as_one_axis_before_version13) {
  const Tensor x = zeros({2, 2, 2});
  EXPECT_EQ(floats(of_node("Softmax", {{"x", x}}, {}, 12), "y"), Floats(8, 0.25F));
  EXPECT_EQ(floats(of_node("Softmax", {{"x", x}}, {}, 13), "y"), Floats(8, 0.5F));
}

TEST_F(Operators, indices_below_zero_count_from_the_end) {
  const Tensor x = tensor({10.0, 20.0, 30.0});
  EXPECT_EQ(floats(of_node("Gather", {{"x", x}, {"i", tensor({-1, 0, -3})}}), "y"),
            (Floats{30, 10, 10}));
}

TEST_F(Operators, updates_at_the_same_place_are_all_counted) {
  const auto of = [&](const char* reduction, DType dtype) {
    const Tensor x = as_type(tensor({4, 5, 1}), dtype);
    const Tensor updates = as_type(tensor({3, 7, 0}), dtype);
    const Value out =
        of_node("ScatterND", {{"x", x}, {"i", tensor({{1}, {1}, {-1}})}, {"u", updates}},
                {named("reduction", std::string{reduction})}, 18)
            .at("y");
    EXPECT_EQ(out.type(), element_type_of(dtype));
    return out.tensor().to_vector<int>();
  };
  for (const DType dtype : {DType::f32, DType::f16, DType::s64, DType::u8}) {
    EXPECT_EQ(of("add", dtype), (std::vector{4, 15, 1})) << to_string(dtype);
    EXPECT_EQ(of("mul", dtype), (std::vector{4, 105, 0})) << to_string(dtype);
    EXPECT_EQ(of("max", dtype), (std::vector{4, 7, 1})) << to_string(dtype);
    EXPECT_EQ(of("min", dtype), (std::vector{4, 3, 0})) << to_string(dtype);
  }
  for (const char* either : {"add", "max"})
    EXPECT_EQ(of(either, DType::boolean), (std::vector{1, 1, 1})) << either;
  for (const char* both : {"mul", "min"})
    EXPECT_EQ(of(both, DType::boolean), (std::vector{1, 1, 0})) << both;
}

TEST_F(Operators, the_largest_of_a_box_is_a_number_wherever_one_is_none) {
  for (const std::size_t at : {0U, 3U}) {
    Floats pixels(4, 1.0F);
    pixels[at] = std::numeric_limits<float>::quiet_NaN();
    const Value out =
        of_node("RoiAlign",
                {{"x", tensor(pixels, {1, 1, 2, 2})},
                 {"boxes", tensor(Floats{0, 0, 2, 2}, {1, 4})},
                 {"of", zeros({1}, DType::s64)}},
                {named("mode", std::string{"max"}), named("sampling_ratio", std::int64_t{2}),
                 named("coordinate_transformation_mode", std::string{"half_pixel"})},
                18)
            .at("y");
    EXPECT_EQ(out.tensor().to_vector<float>(), Floats{1}) << at;
  }
}

TEST_F(Operators, a_bin_of_more_pixels_than_a_driver_counts_to_has_their_largest) {
  const std::vector<Attribute> one_bin{named("pooled_shape", Whole{1, 1})};
  for (const Shape& shape : {Shape{1, 1, 60000, 1}, Shape{1, 1, 300, 218}}) {
    const auto pixels = static_cast<float>(shape.elements());
    const Tensor images = reshape(iota({shape.elements()}, DType::f32), shape);
    const Tensor all =
        tensor(Floats{0, 0, 0, static_cast<float>(shape[3] - 1), static_cast<float>(shape[2] - 1)},
               {1, 5});
    EXPECT_EQ(floats(of_node("MaxRoiPool", {{"x", images}, {"boxes", all}}, one_bin), "y"),
              Floats{pixels - 1});
  }
}

TEST_F(Operators, bins_of_a_box_have_whole_pixels_and_neighbours_share_a_pixel_between_them) {
  const Tensor images = reshape(iota({32}, DType::f32), {2, 1, 4, 4});
  // All of an image; three by three pixels of the other one, in halves; nothing of any.
  const Tensor boxes = tensor(Floats{0, 0, 0, 7, 7, 1, 2, 2, 6, 6, 0, 18, 18, 24, 24}, {3, 5});
  const std::vector<Attribute> two_by_two{named("pooled_shape", Whole{2, 2}),
                                          named("spatial_scale", 0.5F)};
  const Floats expected{10, 11, 14, 15, 26, 27, 30, 31, 0, 0, 0, 0};
  for (const DType dtype : {DType::f32, DType::f64, DType::f16}) {
    const Tensor third = as_type(images, dtype) / 3.0;
    const Value y =
        of_node("MaxRoiPool", {{"x", third}, {"boxes", as_type(boxes, dtype)}}, two_by_two).at("y");
    EXPECT_EQ(y.tensor().dtype(), dtype);
    EXPECT_EQ(y.shape(), (Shape{3, 1, 2, 2}));
    const Tensor same = as_type(tensor(expected), dtype) / 3.0;
    EXPECT_EQ(y.tensor().to_vector<double>(), same.to_vector<double>()) << to_string(dtype);
  }
}

TEST_F(Operators, boxes_are_chosen_class_by_class_the_best_first) {
  // The second lies upon the first, the third elsewhere, and the last is the third.
  const Tensor boxes = tensor(Floats{0, 0, 2, 2, 2, 2, 0.1F, 0, 5, 5, 6, 6, 5, 5, 6, 6}, {1, 4, 4});
  const Tensor scores =
      tensor(Floats{0.5F, 0.9F, 0.7F, 0.7F, 0.1F, 0.2F, 0.3F, 0.1F, 0.8F, 0, 0, 0.9F}, {1, 3, 4});
  const auto chosen = [&](std::int64_t most, std::optional<float> least) {
    std::vector<std::string> names{"boxes", "scores", "most", "overlap"};
    GraphBuilder builder;
    builder.input("boxes", {1, 4, 4}).input("scores", {1, 3, 4});
    builder.constant("most", integers({most})).constant("overlap", reals({0.5}));
    if (least) {
      names.emplace_back("least");
      builder.constant("least", reals({*least}));
    }
    builder.node("NonMaxSuppression", names, {"y"}).output("y");
    return whole(builder.load(here()).run({{"boxes", boxes}, {"scores", scores}}).get(), "y");
  };
  EXPECT_EQ(chosen(4, {}), (Whole{0, 0, 1, 0, 0, 2, 0, 1, 2, 0, 1, 1, 0, 2, 3, 0, 2, 0}));
  EXPECT_EQ(chosen(1, {}), (Whole{0, 0, 1, 0, 1, 2, 0, 2, 3}));
  EXPECT_EQ(chosen(4, 0.25F), (Whole{0, 0, 1, 0, 0, 2, 0, 1, 2, 0, 2, 3, 0, 2, 0}));
  EXPECT_EQ(chosen(4, 0.95F), Whole{});
}

TEST_F(Operators, a_known_index_out_of_range_is_refused) {
  const Error error = refusal([&] {
    (void)GraphBuilder{}
        .input("x", {3})
        .constant("i", integers({3}))
        .node("Gather", {"x", "i"}, {"y"})
        .output("y")
        .load(here())
        .run({{"x", ones({3})}})
        .get();
  });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(std::string{error.what()}.find("index 3 of 3 elements"), std::string::npos);
}

TEST_F(Operators, slices_go_backwards_and_clamp_their_ends) {
  const auto sliced = [&](Whole starts, Whole ends, Whole steps) {
    return floats(of_node("Slice", {{"x", iota({6}, DType::f32)},
                                    {"starts", Known::integers(starts)},
                                    {"ends", Known::integers(ends)},
                                    {"axes", Known::integers(Whole{0})},
                                    {"steps", Known::integers(steps)}}),
                  "y");
  };
  EXPECT_EQ(sliced({100}, {-100}, {-2}), (Floats{5, 3, 1}));
  EXPECT_EQ(sliced({-2}, {std::numeric_limits<std::int64_t>::max()}, {1}), (Floats{4, 5}));
  EXPECT_EQ(sliced({1}, {6}, {2}), (Floats{1, 3, 5}));
  EXPECT_EQ(sliced({4}, {2}, {1}), Floats{});
}

TEST_F(Operators, non_zero_gives_a_row_for_each_axis) {
  const Tensor x = tensor({{0.0, 3.0}, {5.0, 0.0}});
  const NamedValues out = of_node("NonZero", {{"x", x}});
  EXPECT_EQ(out.at("y").shape(), (Shape{2, 2}));
  EXPECT_EQ(whole(out, "y"), (Whole{0, 1, 1, 0}));
  EXPECT_EQ(of_node("NonZero", {{"x", zeros({2, 3})}}).at("y").shape(), (Shape{2, 0}));
}

TEST_F(Operators, narrow_floats_go_there_and_back) {
  const Tensor x = tensor({0.0, 1.0, -2.0, 448.0, 1e6, 0.001953125});
  const auto to = [](ElementType type) { return named("to", static_cast<std::int64_t>(type)); };
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .node("Cast", {"x"}, {"narrow"}, {to(ElementType::f8e4m3fn)})
                          .node("Cast", {"narrow"}, {"y"}, {to(ElementType::f32)})
                          .output("y")
                          .output("narrow")
                          .load(here());
  const NamedValues out = model.run({{"x", x}}).get();
  EXPECT_EQ(out.at("narrow").type(), ElementType::f8e4m3fn);
  EXPECT_EQ(floats(out, "y"), (Floats{0, 1, -2, 448, 448, 0.001953125F}));
}

TEST_F(Operators, pools_with_ceil_mode_do_not_count_what_hangs_over) {
  const std::vector<Attribute> attributes{named("kernel_shape", Whole{3}),
                                          named("strides", Whole{2}),
                                          named("ceil_mode", std::int64_t{1})};
  const Tensor x = reshape(tensor({1.0, 2.0, 3.0, 4.0}), {1, 1, 4});
  EXPECT_EQ(floats(of_node("AveragePool", {{"x", x}}, attributes), "y"), (Floats{2, 3.5F}));
  EXPECT_EQ(floats(of_node("MaxPool", {{"x", x}}, attributes), "y"), (Floats{3, 4}));
}

TEST_F(Operators, a_seed_gives_the_same_numbers_and_runs_without_one_follow_theirs) {
  const std::vector<Attribute> seeded{named("shape", Whole{4}), named("seed", 3.0F)};
  EXPECT_EQ(floats(of_node("RandomNormal", {}, seeded), "y"),
            floats(of_node("RandomNormal", {}, seeded), "y"));
  const Model model = GraphBuilder{}
                          .node("RandomUniform", {}, {"y"}, {named("shape", Whole{4})})
                          .output("y")
                          .load(here());
  const auto with = [&](std::uint64_t seed) {
    return floats(model.run({}, {.seed = seed}).get(), "y");
  };
  EXPECT_EQ(with(1), with(1));
  EXPECT_NE(with(1), with(2));
  const auto anew = [&] { return floats(model.run({}).get(), "y"); };
  const Floats first = anew();
  EXPECT_NE(first, anew()) << "no run repeats another";
  EXPECT_NE(first, with(0));
}

TEST_F(Operators, sequences_and_optionals_are_values_of_a_run) {
  const Model model =
      GraphBuilder{}
          .input("x", {"n"})
          .node("SequenceConstruct", {"x", "x"}, {"list"})
          .node("SequenceInsert", {"list", "x"}, {"longer"})
          .node("ConcatFromSequence", {"longer"}, {"y"}, {named("axis", std::int64_t{0})})
          .node("SequenceLength", {"longer"}, {"length"})
          .output("longer")
          .output("y")
          .output("length")
          .load(here());
  for (int i = 0; i < 2; ++i) {
    const NamedValues out = model.run({{"x", tensor({1.0, 2.0})}}).get();
    EXPECT_EQ(out.at("longer").elements().size(), 3U);
    EXPECT_EQ(floats(out, "y"), (Floats{1, 2, 1, 2, 1, 2}));
    EXPECT_EQ(whole(out, "length"), (Whole{3}));
  }
}

TEST_F(Operators, a_loop_without_an_end_is_refused) {
  GraphBuilder body;
  body.input("round", {}, ElementType::s64)
      .input("before", {}, ElementType::boolean)
      .input("state", {"n"})
      .node("Identity", {"before"}, {"goes_on"})
      .node("Identity", {"state"}, {"next"})
      .output("goes_on")
      .output("next");
  const Model model = GraphBuilder{}
                          .input("x", {"n"})
                          .node("Loop", {"", "", "x"}, {"y"}, {body.as("body")})
                          .output("y")
                          .load(here());
  const Error error = refusal([&] { (void)model.run({{"x", ones({1})}}).get(); });
  EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
}

TEST_F(Operators, transpose_names_each_axis_once) {
  const std::vector<Attribute> twice{named("perm", Whole{0, 0})};
  const Value x = Known::integers(Whole{1, 2, 3, 4, 5, 6}, Shape{2, 3});
  EXPECT_EQ(refusal([&] {
              (void)of_node("Transpose", {{"x", x}}, twice);
            }).code(),
            ErrorCode::invalid_parameter);
}

TEST_F(Operators, strings_are_computed_on_the_host) {
  const Value a{Texts{Shape{2}, {"a", "b"}}};
  const Value b{Texts{Shape{1}, {"!"}}};
  EXPECT_EQ(of_node("StringConcat", {{"a", a}, {"b", b}}).at("y").texts().strings,
            (std::vector<std::string>{"a!", "b!"}));
}

TEST_F(Operators, strings_change_their_case_beyond_ascii) {
  const auto in_case = [&](const char* action, std::vector<std::string> all) {
    const Value x{Texts{Shape{static_cast<std::int64_t>(all.size())}, std::move(all)}};
    return of_node("StringNormalizer", {{"x", x}},
                   {named("case_change_action", std::string{action})})
        .at("y")
        .texts()
        .strings;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(in_case("UPPER", {"äöü", "ab7", "straße", "жǆ"}),
            (Words{"ÄÖÜ", "AB7", "STRAßE", "ЖǄ"}));
  EXPECT_EQ(in_case("LOWER", {"ÀÉÎ", "Ω"}), (Words{"àéî", "ω"}));
  // No UTF-8: no letter's first byte, a letter without its end, half of a pair of UTF-16, beyond the last letter.
  for (const char* bad : {"\xff\xfe", "a\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_EQ(refusal([&] { (void)in_case("UPPER", {bad}); }).code(), ErrorCode::invalid_argument)
        << bad;
}

TEST_F(Operators, strings_match_expressions_as_a_whole) {
  const auto matches = [&](const std::string& pattern, std::vector<std::string> all) {
    const Value x{Texts{Shape{static_cast<std::int64_t>(all.size())}, std::move(all)}};
    return of_node("RegexFullMatch", {{"x", x}}, {named("pattern", pattern)})
        .at("y")
        .tensor()
        .to_vector<std::uint8_t>();
  };
  using Truths = std::vector<std::uint8_t>;
  EXPECT_EQ(matches("www[.].*", {"www.a.org", "a www.", "WWW.b"}), (Truths{1, 0, 0}));
  EXPECT_EQ(matches("ä{2}", {"ää", "ä", ""}), (Truths{1, 0, 0}));
  const Error error = refusal([&] { (void)matches("(\n", {"a"}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string{error.detail("node")}.find("its pattern is none of RE2's: missing )"),
            std::string::npos)
      << error.what();
}

TEST_F(Operators, strings_are_moved_as_numbers_are) {
  const auto words = [](const Shape& shape, std::vector<std::string> all) {
    return Value{Texts{shape, std::move(all)}};
  };
  const Value x = words({2, 2}, {"a", "b", "c", "d"});
  const auto strings = [&](const std::string& op,
                           const std::vector<std::pair<std::string, Value>>& more,
                           std::vector<Attribute> attributes = {}) {
    std::vector<std::pair<std::string, Value>> inputs{{"x", x}};
    inputs.insert(inputs.end(), more.begin(), more.end());
    return of_node(op, inputs, std::move(attributes)).at("y").texts().strings;
  };
  using Words = std::vector<std::string>;
  const auto known = [](const Whole& values) { return Value{Known::integers(values)}; };
  EXPECT_EQ(strings("Transpose", {}), (Words{"a", "c", "b", "d"}));
  EXPECT_EQ(strings("Gather", {{"i", known({-1})}}), (Words{"c", "d"}));
  EXPECT_EQ(strings("Gather", {{"i", tensor({-1})}}), (Words{"c", "d"}));
  EXPECT_EQ(strings("Slice", {{"s", known({1})}, {"e", known({2})}}), (Words{"c", "d"}));
  EXPECT_EQ(strings("Concat", {{"z", words({1, 2}, {"e", "f"})}}, {named("axis", std::int64_t{0})}),
            (Words{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(strings("Tile", {{"r", known({1, 2})}}),
            (Words{"a", "b", "a", "b", "c", "d", "c", "d"}));
  EXPECT_EQ(
      strings("Compress", {{"c", Known::integers(Whole{0, 1}, Shape{2}, ElementType::boolean)}},
              {named("axis", std::int64_t{0})}),
      (Words{"c", "d"}));
}

}  // namespace
}  // namespace stoker::onnx
