// Options as structs, and what follows from them.
#include <gtest/gtest.h>

#include "stoker/api/nn.hpp"
#include "stoker/api/train.hpp"
#include "stoker/tests/nn/refused.hpp"

namespace stoker::nn {
namespace {

enum class Colour : std::uint8_t { red, green };

struct Paint {
  static constexpr const char* kind = "paint";
  Required<std::int64_t> coats = {};
  double gloss = 0.5;
  bool dry = true;
  Colour colour = Colour::red;
  Extents sizes = 1;
  ActivationName finish = linear;
  std::string name = {};
};
template <class V> void visit_options(Paint& o, V&& visit) {
  visit("coats", o.coats, at_least(1), "how many");
  visit("gloss", o.gloss, within(0, 1), "how much");
  visit("dry", o.dry, anything, "whether");
  visit("colour", o.colour, one_of<Colour>({{"red", Colour::red}, {"green", Colour::green}}),
        "which");
  visit("sizes", o.sizes, anything, "of cans");
  visit("finish", o.finish, anything, "what comes last");
}

const std::vector<ParamSpec>& table() {
  static const std::vector<ParamSpec> specs = options::specs<Paint>();
  return specs;
}

TEST(Options, the_table_has_names_types_defaults_ranges_words_and_texts_in_order) {
  ASSERT_EQ(table().size(), 6U);
  EXPECT_EQ(table()[0].name, "coats");
  EXPECT_EQ(table()[0].type, ParamType::integer);
  EXPECT_FALSE(table()[0].fallback);
  EXPECT_EQ(table()[0].min, 1);
  EXPECT_EQ(table()[0].doc, "how many");
  EXPECT_EQ(table()[1].fallback, ParamValue{0.5});
  EXPECT_EQ(table()[1].max, 1);
  EXPECT_EQ(table()[2].type, ParamType::boolean);
  EXPECT_EQ(table()[3].choices, (std::vector<std::string>{"red", "green"}));
  EXPECT_EQ(table()[3].fallback, ParamValue{std::string{"red"}});
  EXPECT_EQ(table()[4].fallback, (ParamValue{std::vector<std::int64_t>{1}}));
  EXPECT_EQ(table()[5].fallback, ParamValue{std::string{"linear"}});
}

TEST(Options, what_is_the_default_is_not_given) {
  const Params given = options::given(Paint{.coats = 2, .gloss = 0.5, .colour = Colour::green});
  EXPECT_EQ((Named{"paint", given}.text()), R"(paint(coats=2, colour="green"))");
}

TEST(Options, come_back_from_what_was_given) {
  const Paint paint{.coats = 2, .dry = false, .sizes = {3, 5}, .finish = "leaky_relu(alpha=0.2)"};
  const ParamSet set = ParamSet::resolve("paint", table(), options::given(paint)).value();
  const auto again = options::from<Paint>(set);
  EXPECT_EQ(again.coats, 2);
  EXPECT_EQ(again.gloss, 0.5);
  EXPECT_FALSE(again.dry);
  EXPECT_EQ(again.sizes.list(), (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(again.finish.text(), "leaky_relu(alpha=0.2)");
}

TEST(Options, that_are_required_are_missed_and_refused_where_they_come_twice) {
  const Node x = input({4});
  const Error missing = error_of([] { return Layer{layers::Dense{}}; });
  EXPECT_EQ(missing.reason(), "parameter 'units' is missing, expected integer of at least 1");
  const Error range = error_of([&] { return dense(x, 0); });
  EXPECT_EQ(range.reason(), "parameter 'units' is 0, expected integer of at least 1");
}

TEST(Options, that_are_an_argument_of_the_function_too_are_refused_with_both_values) {
  const Node x = input({8, 8, 4});
  const Error pool = error_of([&] { return max_pool(x, 2, {.kernel_size = 3}); });
  EXPECT_EQ(pool.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(pool.op(), "max_pool");
  EXPECT_EQ(pool.reason(),
            "kernel_size is given twice: [3] as an option, [2] as an argument of the function");
  EXPECT_EQ(error_of([&] { return dense(x, 2, {.units = 3}); }).reason(),
            "units is given twice: 3 as an option, 2 as an argument of the function");
  const auto refuses = [](const char* option, const auto& call) {
    const Error error = error_of(call);
    EXPECT_EQ(error.code(), ErrorCode::invalid_parameter) << error.what();
    EXPECT_EQ(error.detail("parameter"), option) << error.what();
  };
  refuses("rate", [&] { return dropout(x, 0.2, {.rate = 0.3}); });
  refuses("axis", [&] { return concatenate({x, x}, 1, {.axis = 2}); });
  refuses("axis", [&] { return split(x, 2, 1, {.axis = 2}); });
  refuses("splits", [&] { return split(x, 2, 1, {.splits = {1, 3}}); });
  refuses("units", [&] { return conv(x, 2, {.units = 3}); });
  refuses("units", [&] { return conv_transpose(x, 2, {.units = 3}); });
  refuses("units", [&] { return bilinear(x, x, 2, {.units = 3}); });
  refuses("embedding_size", [&] { return embedding(x, 9, 2, {.embedding_size = 3}); });
  refuses("shape", [&] { return resize(x, 4, {.shape = 5}); });
  refuses("shape", [&] { return reshape(x, {16, 16}, {.shape = {256}}); });
  refuses("function", [&] { return activation(x, relu, {.function = tanh}); });
}

TEST(Options, are_the_arguments_where_both_are_equal_or_the_option_is_the_default) {
  const Node x = input({8, 8, 4});
  const auto rate_of = [](const Node& made) { return made.layer().options().real("rate"); };
  EXPECT_EQ(rate_of(dropout(x, 0.2, {.rate = 0.2})), 0.2);
  EXPECT_EQ(rate_of(dropout(x, 0.2, {.rate = 0.5})), 0.2);
  EXPECT_EQ(max_pool(x, 2, {.kernel_size = {2}}).layer().options().integers("kernel_size"),
            (std::vector<std::int64_t>{2}));
  EXPECT_EQ(dense(x, 2, {.units = 2}).layer().options().integer("units"), 2);
}

TEST(Options, of_an_enum_that_has_no_word_are_refused_as_an_error_of_the_kind) {
  const Error error = error_of([] { return options::given(Paint{.colour = Colour{7}}); });
  EXPECT_EQ(error.op(), "paint");
  EXPECT_EQ(error.reason(), "parameter 'colour' has another value, expected one of red, green");
}

/// What a layer hands on to one that it wraps: its defaults may be others.
TEST(Options, are_told_as_a_whole_defaults_included) {
  const Params all = options::all(Paint{.gloss = 0.25});
  EXPECT_EQ(all.find("coats"), nullptr) << "required, and not given";
  ASSERT_NE(all.find("dry"), nullptr);
  EXPECT_EQ(*all.find("dry"), ParamValue{true});
  EXPECT_EQ(*all.find("gloss"), ParamValue{0.25});
  EXPECT_EQ(*all.find("finish"), ParamValue{std::string{"linear"}});
}

TEST(Options, as_a_struct_and_as_text_make_the_same_network) {
  const Node x = input({6, 6, 1});
  const Network typed{
      conv(x, 2, {.kernel_size = 3, .padding = same, .activation = relu, .name = "c"})};
  const Network text{
      Layer{"conv(units=2, kernel_size=[3], padding=same, activation=relu)", "c"}(x)};
  EXPECT_EQ(typed.to_json(), text.to_json());
  EXPECT_EQ(Network::from_json(typed.to_json()).to_json(), typed.to_json());
}

TEST(Options, of_what_a_layer_applies_are_structs_too) {
  EXPECT_EQ(ActivationName{activations::LeakyRelu{.alpha = 0.2}}.text(), "leaky_relu(alpha=0.2)");
  EXPECT_EQ(InitializerName{initializers::Normal{.scale = 0.02}}.text(), "normal(scale=0.02)");
  const InitializerName scaling{initializers::VarianceScaling{.mode = initializers::Fan::out}};
  EXPECT_EQ(scaling.text(), R"(variance_scaling(mode="fan_out"))");
  static_assert(!std::is_convertible_v<activations::LeakyRelu, InitializerName>);
  static_assert(!std::is_convertible_v<LossName, InitializerName>);
  static_assert(!std::is_constructible_v<Required<std::int64_t>, double>);
  static_assert(!std::is_constructible_v<Required<std::int64_t>, bool>);
  static_assert(!std::is_constructible_v<Extents, bool>);
  static_assert(!std::is_convertible_v<decltype(relu), InitializerName>);
}

/// The word itself is the name that is looked up.
TEST(Options, every_activation_and_initializer_has_a_word) {
  const std::vector<ActivationName> words{
      celu,    elu,         exp,         gelu,       hard_sigmoid, hard_silu, hard_tanh, leaky_relu,
      linear,  log_sigmoid, log_softmax, log_sumexp, mish,         relu,      relu6,     selu,
      sigmoid, silu,        softmax,     softplus,   softsign,     tanh};
  std::vector<std::string> names;
  for (const NamedKind& kind : activation_kinds()) names.push_back(kind.name);
  std::vector<std::string> of_words;
  for (const ActivationName& word : words) of_words.push_back(word.text());
  EXPECT_EQ(of_words, names);
  for (const InitializerName& word :
       {InitializerName{initializers::zeros}, InitializerName{initializers::ones},
        InitializerName{initializers::identity}, InitializerName{initializers::uniform},
        InitializerName{initializers::normal}, InitializerName{initializers::lecun_uniform},
        InitializerName{initializers::lecun_normal}, InitializerName{initializers::glorot_uniform},
        InitializerName{initializers::glorot_normal}, InitializerName{initializers::he_uniform},
        InitializerName{initializers::he_normal}, InitializerName{initializers::variance_scaling},
        InitializerName{initializers::orthogonal}})
    EXPECT_TRUE(initializer(word)) << word.text();
}

}  // namespace
}  // namespace stoker::nn
