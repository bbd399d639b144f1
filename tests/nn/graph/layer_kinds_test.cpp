// Kinds of layers: what a definition needs, and those that a program adds, with options of their own.
#include "stoker/api/nn/graph/layer_kinds.hpp"

#include "stoker/api/nn.hpp"
#include "stoker/runtime/observe/log.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

enum class Side : std::uint8_t { left, right };

struct Weigh {
  static constexpr const char* kind = "weigh";
  double factor = 1;
  Side side = Side::left;
  ActivationName after = linear;
  std::string name = {};
};
template <class V> void visit_options(Weigh& o, V&& visit) {
  visit("factor", o.factor, within(-10, 10), "of each element");
  visit("side", o.side, one_of<Side>({{"left", Side::left}, {"right", Side::right}}), "which");
  visit("after", o.after, anything, "what the result goes through");
}

KindOf<Weigh> weigh() {
  return {.summary = "x · factor · weight",
          .variables =
              [](std::span<const TensorSpec> inputs, const Weigh&) {
                const Shape& x = inputs[0].shape;
                return std::vector<VariableSpec>{{"weight", Shape{x[x.rank() - 1]}, "ones"}};
              },
          .apply =
              [](LayerCall& call, const Weigh& options) {
                const double sign = options.side == Side::left ? 1 : -1;
                const Tensor y = call.x() * (sign * options.factor) * call.variable("weight");
                return std::vector<Tensor>{activation(options.after)(y)};
              }};
}

/// Added once in this process.
class OwnKinds : public Tensors {
 protected:
  static void SetUpTestSuite() {
    static const bool added = [] {
      add_layer_kind(weigh());
      return true;
    }();
    ASSERT_TRUE(added);
  }
  static std::vector<float> of(const Network& network) {
    const Variables variables = network.initialize(random::key(1));
    return network.forward(variables, std::vector{tensor({{1.0, -2.0}})})
        .outputs[0]
        .to_vector<float>();
  }
};

TEST_F(OwnKinds, are_structs_of_options_like_those_of_stoker) {
  const Node x = input({2});
  EXPECT_EQ(of(Network{Layer{Weigh{.factor = 3}}(x)}), (std::vector<float>{3, -6}));
  EXPECT_EQ(of(Network{Layer{Weigh{.factor = 3, .side = Side::right, .after = relu}}(x)}),
            (std::vector<float>{0, 6}));
}

TEST_F(OwnKinds, are_text_too_and_part_of_files) {
  const Network network{Layer{"weigh(factor=2, side=right)", "mine"}(input({2}))};
  const Network again = Network::from_json(network.to_json());
  EXPECT_EQ(again.layer("mine").kind, "weigh");
  EXPECT_EQ(of(again), (std::vector<float>{-2, 4}));
}

TEST_F(OwnKinds, refuse_options_as_those_of_stoker_do) {
  const Error range = error_of([] { return Layer{Weigh{.factor = 11}}; });
  EXPECT_EQ(range.op(), "weigh");
  EXPECT_EQ(range.reason(), "parameter 'factor' is 11, expected real from -10 to 10");
  EXPECT_NE(
      error_of([] { return Layer{"weigh(factr=1)"}; }).reason().find("did you mean 'factor'?"),
      std::string_view::npos);
  EXPECT_NE(error_of([] { return Layer{"wiegh"}; }).reason().find("did you mean 'weigh'?"),
            std::string_view::npos);
}

TEST_F(OwnKinds, are_listed_by_name_and_stay_what_they_are) {
  const std::vector<const LayerDefinition*> all = layer_kinds();
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &LayerDefinition::name));
  EXPECT_EQ(std::ranges::count(all, "weigh", &LayerDefinition::name), 1);
  EXPECT_EQ(layer_table().find("weigh"), nullptr) << "that one has Stoker's only";
  EXPECT_EQ(code_of([] { add_layer_kind(weigh()); }), ErrorCode::already_exists);
  EXPECT_EQ(code_of([] {
              add_layer_kind({.name = "dense", .summary = "", .apply = [](LayerCall&) {
                                return std::vector<Tensor>{};
                              }});
            }),
            ErrorCode::already_exists);
}

TEST(LayerDefinitions, without_what_they_need_are_refused_with_what_is_missing) {
  const auto reason = [](LayerDefinition definition) {
    const Error error = error_of([&] { add_layer_kind(std::move(definition)); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return std::string{error.reason()};
  };
  const auto nothing = [](LayerCall&) { return std::vector<Tensor>{}; };
  EXPECT_EQ(reason({.name = "idle", .summary = ""}),
            "the kind of layers 'idle' has no function `apply`, which computes its outputs");
  EXPECT_EQ(reason({.name = "", .summary = "", .apply = nothing}),
            "the kind of layers '' has no name");
  EXPECT_EQ(reason({.name = "two words", .summary = "", .apply = nothing}),
            "expected a name of letters, digits and _ that begins with no digit, got 'two words'");
  EXPECT_EQ(reason({.name = "mute", .summary = "", .outputs = 0, .apply = nothing}),
            "the kind of layers 'mute' has no outputs, expected at least 1");
  EXPECT_EQ(reason({.name = "torn", .summary = "", .least_inputs = 3, .apply = nothing}),
            "the kind of layers 'torn' takes at least 3 inputs and at most 1");
}

TEST(LayerDefinitions, with_options_that_cannot_be_given_are_refused) {
  const auto reason = [](std::vector<ParamSpec> options) {
    return std::string{error_of([&] {
                         add_layer_kind(
                             {.name = "odd",
                              .summary = "",
                              .options = std::move(options),
                              .apply = [](LayerCall&) { return std::vector<Tensor>{}; }});
                       }).reason()};
  };
  const ParamSpec size{.name = "size", .fallback = std::int64_t{1}, .doc = ""};
  EXPECT_EQ(reason({size, size}), "the kind of layers 'odd' has an option 'size' twice");
  EXPECT_EQ(reason({{.name = "two words", .fallback = {}, .doc = ""}}),
            "the kind of layers 'odd' has an option 'two words', expected letters, digits and _ "
            "that begin with no digit");
  EXPECT_EQ(reason({{.name = "name", .type = ParamType::text, .fallback = {}, .doc = ""}}),
            "the kind of layers 'odd' has an option 'name', which is what the layer is called");
  EXPECT_EQ(reason({{.name = "size", .fallback = std::string{"large"}, .doc = ""}}),
            "the kind of layers 'odd' has an option 'size' of type integer, whose default is of "
            "another: \"large\"");
}

TEST(LayerDefinitions, with_earlier_names_that_stand_for_no_option_are_refused) {
  const auto reason = [](std::map<std::string, std::string> earlier_names) {
    return std::string{error_of([&] {
                         add_layer_kind(
                             {.name = "odd",
                              .summary = "",
                              .options = {{.name = "size", .fallback = std::int64_t{1}, .doc = ""}},
                              .apply = [](LayerCall&) { return std::vector<Tensor>{}; },
                              .earlier_names = std::move(earlier_names)});
                       }).reason()};
  };
  EXPECT_EQ(reason({{"extent", "sise"}}),
            "the kind of layers 'odd' has the earlier name 'extent' of 'sise', which is not an "
            "option");
  EXPECT_EQ(reason({{"size", "size"}}),
            "the kind of layers 'odd' has the earlier name 'size', which is still an option");
}

TEST(LayerDefinitions, warn_once_of_an_earlier_name_and_say_the_current_one) {
  // A name is told once in the life of a process, in which a test may run more than once.
  static int runs = 0;
  const std::string kind = "renamed_" + std::to_string(++runs);
  LayerDefinition renamed{.name = kind,
                          .summary = "",
                          .options = {{.name = "size", .fallback = std::int64_t{1}, .doc = ""}},
                          .apply = [](LayerCall& call) { return std::vector{call.x()}; },
                          .earlier_names = {{"extent", "size"}, {"width", "size"}}};
  const LogCapture log{LogLevel::warn};
  (void)with_current_names(renamed, {{"size", 2}});
  EXPECT_TRUE(log.lines().empty());
  for (int i = 0; i < 3; ++i) (void)with_current_names(renamed, {{"extent", 2}});
  (void)with_current_names(renamed, {{"width", 2}});
  EXPECT_EQ(log.lines(),
            (std::vector<std::string>{
                "warning an option of a layer is given under an earlier name kind=" + kind +
                    " option=extent now=size",
                "warning an option of a layer is given under an earlier name kind=" + kind +
                    " option=width now=size"}));
}

TEST(LayerDefinitions, take_an_option_once_whatever_its_name_was) {
  const Error error =
      error_of([] { return Layer{"global_max_pool(keep_axes=true, keepdims=true)"}; });
  EXPECT_EQ(error.code(), ErrorCode::invalid_parameter);
  EXPECT_EQ(error.reason(), "parameter 'keepdims' is given twice, once under an earlier name");
}

TEST(LayerDefinitions, whose_results_do_not_fit_are_refused_where_they_are_applied) {
  const auto nothing = [](LayerCall&) { return std::vector<Tensor>{}; };
  const Node x = input({2});
  const Error none = error_of([&] {
    return Layer{LayerDefinition{
        .name = "mute", .summary = "", .apply = nothing, .count_outputs = [](const ParamSet&) {
          return std::size_t{0};
        }}}(x);
  });
  EXPECT_EQ(none.op(), "mute");
  EXPECT_EQ(none.code(), ErrorCode::invalid_argument);
  const Error fewer = error_of([&] {
    return Network{Layer{LayerDefinition{.name = "lazy", .summary = "", .apply = nothing}}(x)};
  });
  EXPECT_EQ(fewer.code(), ErrorCode::invalid_argument) << "the program's fault, not Stoker's";
  const Error twins = error_of([&] {
    return Network{Layer{
        LayerDefinition{.name = "twins",
                        .summary = "",
                        .variables =
                            [](std::span<const TensorSpec>, const ParamSet&) {
                              return std::vector<VariableSpec>{{"w", Shape{2}}, {"w", Shape{3}}};
                            },
                        .apply = [](LayerCall& call) { return std::vector{call.x()}; }}}(x)};
  });
  EXPECT_EQ(twins.code(), ErrorCode::invalid_argument);
  EXPECT_NE(twins.reason().find("two of its variables are called 'w'"), std::string_view::npos);
}

struct Idle {
  static constexpr const char* kind = "idle";
  std::string name = {};
};
template <class V> void visit_options(Idle&, V&&) {}

/// A function that is not there must not become one that throws std::bad_function_call when it is called.
TEST(LayerDefinitions, of_structs_without_functions_are_refused_when_they_are_added) {
  LayerTable table;
  const Error error = error_of([&] { table.add<Idle>({.summary = "does nothing"}); });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.op(), "idle");
  EXPECT_TRUE(table.list().empty());
  EXPECT_EQ(code_of([] { return Layer{KindOf<Idle>{.summary = ""}.definition()}; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { return function({input({2})}, {}); }), ErrorCode::invalid_argument);
}

TEST(LayerKinds, that_are_far_from_all_names_are_refused_without_a_suggestion) {
  EXPECT_EQ(error_of([] { return Layer{"transformer"}; }).reason(),
            "there is no layer 'transformer'");
  EXPECT_EQ(error_of([] { return Layer{"foo"}; }).reason(), "there is no layer 'foo'");
  EXPECT_EQ(error_of([] { return Layer{"desne"}; }).reason(),
            "there is no layer 'desne'; did you mean 'dense'?");
}

TEST(LayerErrors, of_the_first_numbers_name_the_layer_and_not_what_draws_them) {
  // One key has numbers for 2^32 of them.
  const Network network{dense(input({1 << 17}), 1 << 16, {.name = "wide"})};
  const Error error = error_of([&] { return network.initialize(random::key(1)); });
  EXPECT_EQ(error.op(), "wide");
  EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
  EXPECT_NE(error.reason().find("layer 'wide' (dense): one key has 2^32 words"),
            std::string_view::npos)
      << error.what();
}

}  // namespace
}  // namespace stoker::nn
