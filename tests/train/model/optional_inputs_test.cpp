// Inputs that may be left out, what becomes of what is computed of them, and outputs by name.
#include "stoker/api/nn/layers.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"
#include "stoker/api/train/loop/fit.hpp"
#include "stoker/api/train/model/model.hpp"
#include "stoker/tests/nn/refused.hpp"
#include "stoker/tests/tensor/fixture.hpp"

namespace stoker::nn {
namespace {

class OptionalInputs : public Tensors {
 protected:
  /// scores · weights where there are weights, else scores.
  static Network weighted(const Node& weights) {
    const Node scores = dense(input("x", {2}), 2, {.name = "scores"});
    return Network{or_else(Layer{layers::Multiply{}}({scores, weights}), scores)};
  }
  static Network weighted() { return weighted(optional_input("weights", {2})); }
  static Variables of_scores() {
    return {{"scores.kernel", tensor({{1.0F, 0.0F}, {0.0F, 1.0F}})},
            {"scores.bias", tensor({0.0F, 1.0F})}};
  }
  const Tensor x = tensor({{1.0F, 2.0F}});
  const Tensor weights = tensor({{10.0F, 100.0F}});
};

TEST_F(OptionalInputs, are_used_where_they_are_given) {
  const Network network = weighted();
  EXPECT_FALSE(network.inputs()[0].optional);
  EXPECT_TRUE(network.inputs()[1].optional);
  expect_values<float>(network.forward(of_scores(), std::vector{x, weights}).outputs[0], {1, 2},
                       {10, 300});
}

TEST_F(OptionalInputs, may_be_left_out_or_be_tensors_without_a_value) {
  const Network network = weighted();
  expect_values<float>(network.forward(of_scores(), std::vector{x}).outputs[0], {1, 2}, {1, 3});
  expect_values<float>(network.forward(of_scores(), std::vector{x, Tensor{}}).outputs[0], {1, 2},
                       {1, 3});
}

TEST_F(OptionalInputs, make_what_is_computed_of_them_missing) {
  const Node mask = optional_input("mask", {2});
  const Node doubled = Layer{layers::Multiply{}}({mask, mask});
  const Node parts = concatenate({input("x", {2}), doubled});
  const Network network{{parts, or_else(doubled, mask), or_else(doubled, input("x2", {2}))}};
  ASSERT_EQ(network.inputs()[1].name, "mask");
  const auto missing = network.forward({}, std::vector{x, Tensor{}, x}).outputs;
  EXPECT_FALSE(missing[0].has_value());
  EXPECT_FALSE(missing[1].has_value()) << "or_else has nothing to take";
  expect_values<float>(missing[2], {1, 2}, {1, 2});
}

TEST_F(OptionalInputs, reach_layers_that_say_so) {
  LayerDefinition masked{
      .name = "masked",
      .summary = "the first, times the second if that is there",
      .least_inputs = 2,
      .most_inputs = 2,
      .apply =
          [](LayerCall& call) {
            return std::vector{call.x(1).has_value() ? call.x(0) * call.x(1) : call.x(0)};
          },
      .when_missing = WhenMissing::computed};
  const Network network{Layer{std::move(masked)}({input("x", {2}), optional_input("mask", {2})})};
  expect_values<float>(network.forward({}, std::vector{x}).outputs[0], {1, 2}, {1, 2});
  expect_values<float>(network.forward({}, std::vector{x, weights}).outputs[0], {1, 2}, {10, 200});
}

TEST_F(OptionalInputs, leave_the_others_as_strict_as_they_are) {
  const Network network = weighted();
  EXPECT_EQ(code_of([&] {
              return network.forward(of_scores(), std::vector{Tensor{}, weights});
            }),
            ErrorCode::shape_mismatch);
  const Error few = error_of([&] { return network.forward(of_scores(), std::vector<Tensor>{}); });
  EXPECT_EQ(few.code(), ErrorCode::arity_mismatch);
  EXPECT_EQ(few.reason(), "expected 1 to 2 inputs, got 0");
  EXPECT_EQ(code_of([&] {
              return network.forward(of_scores(), std::vector{x, x, x});
            }),
            ErrorCode::arity_mismatch);
  EXPECT_EQ(code_of([&] {
              return network.forward(of_scores(), std::vector{x, tensor({{1.0F}})});
            }),
            ErrorCode::shape_mismatch);
}

TEST_F(OptionalInputs, have_an_alternative_of_their_shape) {
  const Node a = optional_input("a", {2});
  const Error refused = error_of([&] { return Network{or_else(a, input("b", {3}))}; });
  EXPECT_EQ(refused.code(), ErrorCode::shape_mismatch);
  EXPECT_EQ(refused.detail("kind"), "or_else");
}

TEST_F(OptionalInputs, are_written_and_read_with_the_graph) {
  const Network again = Network::from_json(weighted().to_json());
  EXPECT_TRUE(again.inputs()[1].optional);
  expect_values<float>(again.forward(of_scores(), std::vector{x}).outputs[0], {1, 2}, {1, 3});
  EXPECT_NE(Model{weighted()}.summary().find("weights (optional input)"), std::string::npos);
}

TEST_F(OptionalInputs, stay_so_in_other_precisions) {
  const Model model{weighted(), {.precision = "mixed(compute=bf16)"}};
  EXPECT_EQ(model.predict(std::vector{x, Tensor{}})[0].shape(), (Shape{1, 2}));
  EXPECT_EQ(model.predict(std::vector{x, weights})[0].shape(), (Shape{1, 2}));
}

TEST_F(OptionalInputs, are_trained_with_and_without) {
  for (const std::int64_t checkpoints : {0, 3}) {
    Model model{weighted(),
                {.loss = "mean_squared_error",
                 .optimizer = "sgd",
                 .learning_rate = 0.5,
                 .checkpoints = checkpoints}};
    model.update_variables(of_scores());
    const Tensor target = tensor({{0.0F, 0.0F}});
    // (1² + 3²) / 2 and (10² + 300²) / 2
    EXPECT_EQ(model.train_step({{x}, {target}, 1}).item<float>(), 5) << checkpoints;
    model.update_variables(of_scores());
    EXPECT_EQ(model.train_step({{x, weights}, {target}, 1}).item<float>(), 45050) << checkpoints;
  }
}

TEST_F(OptionalInputs, are_trained_with_data_that_have_none_of_them) {
  Model model{weighted(), {.loss = "mean_squared_error", .seed = 1}};
  const Tensor rows = tensor({{1.0F, 2.0F}, {3.0F, 4.0F}});
  EXPECT_EQ(fit(model, Dataset{rows, rows}, {.epochs = 2, .batch_size = 2}).size(), 2U);
  Model strict{weighted(input("weights", {2})), {.loss = "mean_squared_error"}};
  EXPECT_EQ(code_of([&] {
              return fit(strict, Dataset{rows, rows}, {.epochs = 1});
            }),
            ErrorCode::arity_mismatch);
}

TEST_F(OptionalInputs, are_left_out_together_wherever_they_stand) {
  const Node first = optional_input("first", {2});
  const Node last = input("last", {2});
  const Network network{or_else(Layer{layers::Multiply{}}({first, last}), last)};
  ASSERT_EQ(network.inputs()[0].name, "first");
  expect_values<float>(network.forward({}, std::vector{x}).outputs[0], {1, 2}, {1, 2});
  Model model{Network{dense(or_else(first, last), 1)}, {.loss = "mse"}};
  const Tensor wide = tensor({{1.0F, 2.0F, 3.0F}});
  EXPECT_EQ(fit(model, Dataset{x, tensor({{1.0F}})}, {.epochs = 1}).size(), 1U);
  EXPECT_EQ(error_of([&] {
              return fit(model, Dataset{wide, tensor({{1.0F}})}, {.epochs = 1});
            }).detail("input"),
            "last");
}

TEST_F(OptionalInputs, are_nothing_that_measures_trip_over) {
  const Node mask = optional_input("mask", {2});
  const Node all = input("x", {2});
  const Model model{Network{{dense(all, 1), Layer{layers::Multiply{}}({all, mask})}},
                    {.loss = "mse"}};
  EXPECT_GE(model.benchmark({x}, 1, 2).average, 0);
  const Model trained{weighted(), {.loss = "mse"}};
  EXPECT_EQ(trained.step_memory({{x, Tensor{}}, {x}, 1}).batch, 2 * x.bytes());
}

TEST_F(OptionalInputs, are_asked_for_where_a_loss_needs_them) {
  const Node mask = optional_input("mask", {2});
  Model model{Network{dense(concatenate({input("x", {2}), mask}), 1, {.name = "y"})},
              {.loss = "mean_squared_error"}};
  const Error refused = error_of([&] { return model.train_step({{x}, {tensor({{1.0F}})}, 1}); });
  EXPECT_EQ(refused.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(refused.detail("output"), "y");
}

class NamedOutputs : public Tensors {
 protected:
  static Network two() {
    const Node x = input("x", {2});
    const Node hidden = dense(x, 3, {.name = "hidden"});
    return Network{std::vector<Network::NamedOutput>{
        {"features", hidden}, {"scores", dense(hidden, 1, {.name = "last"})}}};
  }
  static std::vector<std::string> names(const Network& network) {
    return {network.output_names().begin(), network.output_names().end()};
  }
};

TEST_F(NamedOutputs, are_those_of_layers_where_none_are_given) {
  const Node x = input({4});
  const std::vector<Node> halves = split(x, {2}, -1, {.name = "halves"});
  EXPECT_EQ(names(Network{{halves[0], halves[1], dense(x, 2, {.name = "d"})}}),
            (std::vector<std::string>{"halves", "halves:1", "d"}));
}

TEST_F(NamedOutputs, are_what_predict_by_name_gives) {
  const Model model{two(), {.seed = 3}};
  const Tensor x = tensor({{1.0F, 2.0F}});
  const Variables named = model.predict_by_name({{"x", x}});
  const std::vector<Tensor> listed = model.predict(std::vector{x});
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named.at("features").to_vector<float>(), listed[0].to_vector<float>());
  EXPECT_EQ(named.at("scores").to_vector<float>(), listed[1].to_vector<float>());
  EXPECT_EQ(code_of([&] { return model.predict_by_name({}); }), ErrorCode::not_found);
  const Error unknown = error_of([&] { return model.predict_by_name({{"x", x}, {"y", x}}); });
  EXPECT_EQ(unknown.code(), ErrorCode::not_found);
  EXPECT_EQ(unknown.detail("input"), "y");
}

TEST_F(NamedOutputs, are_kept_by_files_and_rewrites) {
  const std::vector<std::string> expected{"features", "scores"};
  EXPECT_EQ(names(Network::from_json(two().to_json())), expected);
  EXPECT_EQ(names(two().with_layers([](const Layer& layer, const LayerInfo&) { return layer; })),
            expected);
  const Model model{two(), {.precision = "mixed(compute=bf16)", .seed = 3}};
  EXPECT_EQ(model.predict_by_name({{"x", tensor({{1.0F, 2.0F}})}}).size(), 2U);
}

TEST_F(NamedOutputs, are_not_given_twice) {
  const Node x = input({2});
  const Node y = dense(x, 1);
  const auto twice = [&] { return Network{std::vector<Network::NamedOutput>{{"y", y}, {"y", x}}}; };
  EXPECT_EQ(code_of(twice), ErrorCode::already_exists);
  EXPECT_EQ(code_of([&] {
              return Network{std::vector<Network::NamedOutput>{{"", y}}};
            }),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stoker::nn
