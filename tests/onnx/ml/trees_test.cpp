// Trees, described in either way, against ONNX Runtime.
#include <numeric>

#include "stoker/tests/onnx/ml/ml_test.hpp"

namespace stoker::onnx {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

struct Vote {
  std::int64_t leaf, target;
  float weight;
  std::int64_t tree = 0;
};

class Trees : public MlTest {
 protected:
  /// Leaves 0 to 3: up to 0.5, to 1.5, to 2.5, and above.
  static Attributes stairs(const std::string& mode = "BRANCH_LEQ", std::int64_t trees = 1) {
    Whole tree, node, feature, on_true, on_false;
    Words modes;
    Floats splits;
    for (std::int64_t i = 0; i < trees; ++i) {
      const auto add = [](auto& to, const auto& more) {
        to.insert(to.end(), more.begin(), more.end());
      };
      add(tree, Whole(7, i));
      add(node, Whole{0, 1, 2, 3, 4, 5, 6});
      add(feature, Whole(7, 0));
      add(on_true, Whole{1, 3, 5, 0, 0, 0, 0});
      add(on_false, Whole{2, 4, 6, 0, 0, 0, 0});
      add(modes, Words{mode, mode, mode, "LEAF", "LEAF", "LEAF", "LEAF"});
      add(splits, Floats{1.5F, 0.5F, 2.5F, 0, 0, 0, 0});
    }
    return {named("nodes_treeids", tree),         named("nodes_nodeids", node),
            named("nodes_featureids", feature),   named("nodes_modes", modes),
            named("nodes_values", splits),        named("nodes_truenodeids", on_true),
            named("nodes_falsenodeids", on_false)};
  }
  static Attributes votes(const std::string& of, const std::vector<Vote>& all) {
    Whole trees, nodes, targets;
    Floats weights;
    for (const Vote& one : all) {
      trees.push_back(one.tree);
      nodes.push_back(3 + one.leaf);
      targets.push_back(one.target);
      weights.push_back(one.weight);
    }
    return {named(of + "_treeids", trees), named(of + "_nodeids", nodes),
            named(of + "_ids", targets), named(of + "_weights", weights)};
  }
  static std::vector<Vote> all_for(std::int64_t target, const Floats& weights) {
    std::vector<Vote> all;
    for (std::size_t i = 0; i < weights.size(); ++i)
      all.push_back({static_cast<std::int64_t>(i), target, weights[i]});
    return all;
  }
  static Attributes regressor(const std::vector<Vote>& all, std::int64_t targets = 1,
                              std::int64_t trees = 1) {
    return with(with(stairs("BRANCH_LEQ", trees), votes("target", all)),
                {named("n_targets", targets)});
  }
  static Attributes classifier(const std::vector<Vote>& all, const Whole& labels = {10, 20}) {
    return with(with(stairs(), votes("class", all)), {named("classlabels_int64s", labels)});
  }
  static Tensor steps() { return rows({4, 1}, {0, 1, 2, 3}); }
  /// Two trees; each leaf of the second votes, those of the first for one target or two.
  static std::vector<Vote> two_trees() {
    return {{0, 0, 0.1F},    {1, 1, 0.2F},     {2, 0, 0.3F},    {2, 1, 0.4F},    {3, 1, 0.5F},
            {0, 1, 0.6F, 1}, {1, 1, -0.7F, 1}, {2, 1, 0.8F, 1}, {3, 0, -0.9F, 1}};
  }
};

TEST_F(Trees, compare_in_six_ways_and_missing_values_go_to_the_false_side) {
  const Tensor x = rows({5, 1}, {0.5F, 1.5F, 2.5F, nan, infinity});
  const auto of = [&](const std::string& mode, const Whole& missing = {}) {
    Attributes all =
        with(with(stairs("BRANCH_" + mode), votes("target", all_for(0, {0.1F, 0.4F, 0.6F, 0.9F}))),
             {named("n_targets", std::int64_t{1})});
    if (!missing.empty()) all.push_back(named("nodes_missing_value_tracks_true", missing));
    return reals("TreeEnsembleRegressor", {x}, all);
  };
  EXPECT_EQ(of("LEQ"), (Floats{0.1F, 0.4F, 0.6F, 0.9F, 0.9F}));
  EXPECT_EQ(of("LT"), (Floats{0.4F, 0.6F, 0.9F, 0.9F, 0.9F}));
  EXPECT_EQ(of("GTE"), (Floats{0.9F, 0.1F, 0.1F, 0.9F, 0.1F}));
  EXPECT_EQ(of("GT"), (Floats{0.9F, 0.9F, 0.1F, 0.9F, 0.1F}));
  EXPECT_EQ(of("EQ"), (Floats{0.9F, 0.4F, 0.6F, 0.9F, 0.9F}));
  EXPECT_EQ(of("NEQ"), (Floats{0.4F, 0.6F, 0.1F, 0.1F, 0.1F}));
  const Whole at_root{1, 0, 0, 0, 0, 0, 0}, below{0, 1, 1, 0, 0, 0, 0};
  EXPECT_EQ(of("LEQ", at_root)[3], 0.4F);
  EXPECT_EQ(of("LEQ", below)[3], 0.6F);
  EXPECT_EQ(of("GT", at_root)[3], 0.4F);
  EXPECT_EQ(of("EQ", below)[3], 0.6F);
}

TEST_F(Trees, votes_are_added_averaged_or_the_least_or_most_of_them) {
  const auto of = [&](const std::string& how, const Attributes& more = {}) {
    return reals("TreeEnsembleRegressor", {steps()},
                 with(with(regressor(two_trees(), 2, 2), {text("aggregate_function", how)}), more));
  };
  expect_near(of("SUM"), {0.1, 0.6, 0, -0.5, 0.3, 1.2, -0.9, 0.5});
  expect_near(of("AVERAGE"), {0.05, 0.3, 0, -0.25, 0.15, 0.6, -0.45, 0.25});
  expect_near(of("MIN"), {0.1, 0.6, 0, -0.7, 0.3, 0.4, -0.9, 0.5});
  expect_near(of("MAX"), {0.1, 0.6, 0, 0.2, 0.3, 0.8, -0.9, 0.5});
  expect_near(of("SUM", {text("post_transform", "LOGISTIC")}),
              {0.525, 0.6457, 0.5, 0.3775, 0.5744, 0.7685, 0.2891, 0.6225});
  expect_near(of("AVERAGE", {text("post_transform", "SOFTMAX")}),
              {0.4378, 0.5622, 0.5622, 0.4378, 0.3894, 0.6106, 0.3318, 0.6682});
  expect_near(of("MIN", {text("post_transform", "SOFTMAX_ZERO")}),
              {0.3775, 0.6225, 0, 1, 0.475, 0.525, 0.1978, 0.8022});
  const Floats quantiles = of("MAX", {text("post_transform", "PROBIT")});
  EXPECT_EQ(quantiles[2], -infinity);
  EXPECT_TRUE(std::isnan(quantiles[6]));
  EXPECT_NEAR(quantiles[0], -1.28155, 1e-4);  // exact; ONNX Runtime approximates it: -1.28171
}

TEST_F(Trees, base_values_are_added_to_each_target) {
  const std::vector<Vote> two = {{0, 0, 0.1F},    {1, 0, 0.4F},     {2, 0, 0.6F},
                                 {3, 0, 0.9F},    {0, 0, -0.5F, 1}, {1, 0, 0.5F, 1},
                                 {2, 0, 0.2F, 1}, {3, 0, 0.3F, 1}};
  const auto of = [&](const char* how) {
    return reals("TreeEnsembleRegressor", {steps()},
                 with(regressor(two, 1, 2),
                      {text("aggregate_function", how), named("base_values", Floats{0.5F})}));
  };
  expect_near(of("SUM"), {0.1, 1.4, 1.3, 1.7});
  expect_near(of("AVERAGE"), {0.3, 0.95, 0.9, 1.1});
  expect_near(of("MIN"), {0, 0.9, 0.7, 0.8});
  expect_near(of("MAX"), {0.6, 1.0, 1.1, 1.4});
}

TEST_F(Trees, integers_and_doubles_are_features_too) {
  const Attributes all = regressor(all_for(0, {0.1F, 0.4F, 0.6F, 0.9F}));
  const Floats expected{0.1F, 0.4F, 0.6F, 0.9F};
  for (const ElementType type : {ElementType::s64, ElementType::s32})
    EXPECT_EQ(reals("TreeEnsembleRegressor", {whole_numbers({4, 1}, {0, 1, 2, 3}, type)}, all),
              expected);
  EXPECT_EQ(reals("TreeEnsembleRegressor", {as_type(steps(), DType::f64)}, all), expected);
  EXPECT_EQ(reals("TreeEnsembleRegressor", {zeros({0, 1})}, all), Floats{});
}

TEST_F(Trees, a_split_that_is_a_double_is_not_rounded) {
  // 0.1F lies above 0.1, so that it goes to the false side. By hand: ONNX Runtime takes no doubles for floats.
  Attributes all = without(regressor(all_for(0, {1, 2, 3, 4})), "nodes_values");
  std::vector<double> splits{1.5, 0.1, 2.5, 0, 0, 0, 0};
  std::vector<std::byte> bytes(splits.size() * sizeof(double));
  std::memcpy(bytes.data(), splits.data(), bytes.size());
  all.push_back(named(
      "nodes_values_as_tensor",
      TensorData{
          .type = ElementType::f64, .dims = {7}, .bytes = SharedBytes::own(bytes), .strings = {}}));
  EXPECT_EQ(reals("TreeEnsembleRegressor", {rows({2, 1}, {0.1F, 0.09F})}, all), (Floats{2, 1}));
}

TEST_F(Trees, one_number_tells_two_classes_apart) {
  const std::vector<Vote> mixed = all_for(0, {-1, -0.2F, 0.3F, 2});
  const std::vector<Vote> positive = all_for(0, {0.1F, 0.4F, 0.6F, 0.9F});
  const auto of = [&](const std::vector<Vote>& all, const Attributes& more, const Doubles& expected,
                      const Whole& labels = {10, 10, 20, 20}) {
    const auto [chosen, scores] =
        classified("TreeEnsembleClassifier", steps(), with(classifier(all), more));
    EXPECT_EQ(chosen, labels);
    expect_near(scores, expected);
  };
  of(mixed, {}, {1, -1, 0.2, -0.2, -0.3, 0.3, -2, 2});
  of(positive, {}, {0.9, 0.1, 0.6, 0.4, 0.4, 0.6, 0.1, 0.9});
  const Attributes logistic{text("post_transform", "LOGISTIC")};
  of(mixed, logistic, {0.7311, 0.2689, 0.5498, 0.4502, 0.4256, 0.5744, 0.1192, 0.8808});
  of(positive, logistic, {0.475, 0.525, 0.4013, 0.5987, 0.3543, 0.6457, 0.2891, 0.7109});
  of(positive, {text("post_transform", "SOFTMAX")}, {0.9, 0.1, 0.6, 0.4, 0.4, 0.6, 0.1, 0.9});
  of(mixed, {named("base_values", Floats{0.25F})},
     {0.75, -0.75, -0.05, 0.05, -0.55, 0.55, -2.25, 2.25}, {10, 20, 20, 20});
  of(all_for(1, {0.1F, 0.4F, 0.6F, 0.9F}), {}, {0, 0.1, 0, 0.4, 0, 0.6, 0, 0.9});
  of(all_for(1, {-1, -0.2F, 0.3F, 2}), logistic,
     {0.5, 0.2689, 0.5, 0.4502, 0.5, 0.5744, 0.5, 0.8808});
}

TEST_F(Trees, of_several_classes_the_first_largest_score_wins_among_those_with_votes) {
  const std::vector<Vote> all{{0, 0, 0.3F}, {1, 1, -0.2F}, {2, 2, -0.7F}, {3, 0, -0.9F}};
  const auto [labels, scores] =
      classified("TreeEnsembleClassifier", steps(), classifier(all, {5, 6, 7}));
  EXPECT_EQ(labels, (Whole{5, 6, 7, 5}));
  expect_near(scores, {0.3, 0, 0, 0, -0.2, 0, 0, 0, -0.7, -0.9, 0, 0});
  const auto [with_bases, moved] = classified(
      "TreeEnsembleClassifier", steps(),
      with(classifier(all, {5, 6, 7}), {named("base_values", Floats{0.1F, 0.2F, 0.3F})}));
  EXPECT_EQ(with_bases, (Whole{5, 7, 6, 7}));
  expect_near(moved, {0.4, 0.2, 0.3, 0.1, 0, 0.3, 0.1, 0.2, -0.4, -0.8, 0.2, 0.3});
}

TEST_F(Trees, two_classes_with_votes_for_each_are_compared) {
  // The scores are ONNX Runtime's; its labels are 0 and 1 here, whatever the node lists, and not of the larger score.
  const std::vector<Vote> all{{0, 0, 0.9F}, {0, 1, 0.1F}, {1, 0, 0.6F}, {1, 1, 0.4F},
                              {2, 0, 0.4F}, {2, 1, 0.6F}, {3, 0, 0.1F}, {3, 1, 0.9F}};
  const auto [labels, scores] = classified("TreeEnsembleClassifier", steps(), classifier(all));
  EXPECT_EQ(labels, (Whole{10, 10, 20, 20}));
  expect_near(scores, {0.9, 0.1, 0.6, 0.4, 0.4, 0.6, 0.1, 0.9});
}

TEST_F(Trees, labels_may_be_words) {
  const Attributes all =
      with(without(classifier(all_for(0, {-1, -0.2F, 0.3F, 2})), "classlabels_int64s"),
           {named("classlabels_strings", Words{"no", "yes"})});
  const Model model = node("TreeEnsembleClassifier", 1, all, 2);
  for (int i = 0; i < 2; ++i) {
    const NamedValues out = model.run({{"a", steps()}}).get();
    EXPECT_EQ(out.at("y").texts().strings, (Words{"no", "no", "yes", "yes"}));
    expect_near(floats(out, "z"), {1, -1, 0.2, -0.2, -0.3, 0.3, -2, 2});
  }
  const NamedValues out = model.run({{"a", rows({2, 1}, {3, 0})}}).get();
  EXPECT_EQ(out.at("y").texts().strings, (Words{"yes", "no"}));
}

TEST_F(Trees, a_root_need_not_be_the_first_node) {
  // ONNX Runtime begins with the first one, so this is by hand.
  Attributes all = regressor(all_for(0, {1, 2, 3, 4}));
  for (Attribute& one : all) {
    if (!one.name.starts_with("nodes_")) continue;
    std::visit(
        [](auto& list) {
          if constexpr (requires { list.rbegin(); }) std::ranges::reverse(list);
        },
        one.value);
  }
  EXPECT_EQ(reals("TreeEnsembleRegressor", {steps()}, all), (Floats{1, 2, 3, 4}));
}

TEST_F(Trees, what_is_no_tree_is_refused) {
  const Attributes good = regressor(all_for(0, {1, 2, 3, 4}));
  const auto of = [&](const char* name, AttributeValue value) {
    return code("TreeEnsembleRegressor", {steps()},
                with(without(good, name), {named(name, std::move(value))}));
  };
  EXPECT_EQ(of("nodes_truenodeids", Whole{1, 0, 5, 0, 0, 0, 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("nodes_truenodeids", Whole{1, 9, 5, 0, 0, 0, 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("nodes_truenodeids", Whole{1, 3}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("nodes_nodeids", Whole{0, 1, 2, 3, 3, 5, 6}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("nodes_featureids", Whole{0, 1, 0, 0, 0, 0, 0}), ErrorCode::shape_mismatch);
  EXPECT_EQ(of("nodes_featureids", Whole{0, -1, 0, 0, 0, 0, 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("nodes_modes", Words{"BRANCH_X", "LEAF", "LEAF", "LEAF", "LEAF", "LEAF", "LEAF"}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(of("target_nodeids", Whole{3, 4, 5, 9}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("target_ids", Whole{0, 0, 0, 1}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("target_weights", Floats{1, 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("n_targets", std::int64_t{1} << 40), ErrorCode::limit_exceeded);
  EXPECT_EQ(of("base_values", Floats{1, 2}), ErrorCode::invalid_argument);
  EXPECT_EQ(of("aggregate_function", std::string{"MEAN"}), ErrorCode::invalid_parameter);
  EXPECT_EQ(of("post_transform", std::string{"TANH"}), ErrorCode::invalid_parameter);
  const Attributes labels = classifier(all_for(0, {1, 2, 3, 4}));
  EXPECT_EQ(code("TreeEnsembleClassifier", {steps()}, without(labels, "classlabels_int64s")),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("TreeEnsembleClassifier", {steps()},
                 with(labels, {named("classlabels_strings", Words{"a", "b"})})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("TreeEnsembleRegressor", {ones({1, 1, 1})}, good), ErrorCode::shape_mismatch);
}

// TreeEnsemble ------------------------------------------------------------------------------------

class TreeEnsembles : public MlTest {
 protected:
  static TensorData modes(const std::vector<std::uint8_t>& all) {
    std::vector<std::byte> bytes(all.size());
    std::memcpy(bytes.data(), all.data(), all.size());
    return {.type = ElementType::u8,
            .dims = {static_cast<std::int64_t>(all.size())},
            .bytes = SharedBytes::own(std::move(bytes)),
            .strings = {}};
  }
  /// x[0] ≤ 0? Else ≤ 1? Else ≤ 2? … Leaf i votes with i.
  static Attributes list_of(std::int64_t length, const Whole& roots) {
    Whole zeros(static_cast<std::size_t>(length)), ones(zeros.size(), 1);
    Whole places(zeros.size()), nexts(zeros.size()), ends(zeros.size());
    std::iota(places.begin(), places.end(), 0);
    std::iota(nexts.begin(), nexts.end(), 1);
    ends.back() = 1;  // whose next is a leaf
    Floats weights(zeros.size() + 1);
    std::iota(weights.begin(), weights.end(), 0.0F);
    return {named("nodes_featureids", zeros),
            named("nodes_modes", modes(std::vector<std::uint8_t>(zeros.size()))),
            named("nodes_splits", onnx::reals({weights.begin(), weights.end() - 1})),
            named("nodes_truenodeids", places),
            named("nodes_trueleafs", ones),
            named("nodes_falsenodeids", nexts),
            named("nodes_falseleafs", ends),
            named("leaf_targetids", Whole(zeros.size() + 1)),
            named("leaf_weights", onnx::reals(weights)),
            named("tree_roots", roots)};
  }
  /// x[0] in {2, 5}? Then x[1] in {1}? Else x[1] ≤ 3?
  static Attributes sets() {
    return {named("nodes_featureids", Whole{0, 1, 1}),
            named("nodes_modes", modes({6, 6, 0})),
            named("nodes_splits", onnx::reals({0, 0, 3})),
            named("nodes_truenodeids", Whole{1, 0, 2}),
            named("nodes_trueleafs", Whole{0, 1, 1}),
            named("nodes_falsenodeids", Whole{2, 1, 3}),
            named("nodes_falseleafs", Whole{0, 1, 1}),
            named("membership_values", onnx::reals({2, 5, nan, 1, nan})),
            named("leaf_targetids", Whole{0, 1, 0, 1}),
            named("leaf_weights", onnx::reals({1, 2, 3, 4})),
            named("tree_roots", Whole{0}),
            named("n_targets", std::int64_t{2})};
  }
};

TEST_F(TreeEnsembles, ask_whether_a_value_is_in_a_set) {
  const Tensor x = rows({5, 2}, {2, 1, 5, 0, 3, 3, 4, 4, nan, 1});
  EXPECT_EQ(reals("TreeEnsemble", {x}, sets(), 5), (Floats{1, 0, 0, 2, 3, 0, 0, 4, 3, 0}));
  EXPECT_EQ(reals("TreeEnsemble", {x},
                  with(sets(), {named("nodes_missing_value_tracks_true", Whole{1, 0, 0})}), 5),
            (Floats{1, 0, 0, 2, 3, 0, 0, 4, 1, 0}));
}

TEST_F(TreeEnsembles, may_be_deep) {
  constexpr std::int64_t length = 3000;
  const Tensor x = rows({5, 1}, {-7, 0.5F, 255, 2222.5F, 1e9F});
  const Attributes deep = list_of(length, {0});
  EXPECT_EQ(reals("TreeEnsemble", {x}, deep, 5), (Floats{0, 1, 255, 2223, 3000}));
  EXPECT_EQ(reals("TreeEnsemble", {zeros({0, 1})}, deep, 5), Floats{});
  // What is below many roots is looked into once.
  Whole all(length);
  std::iota(all.begin(), all.end(), 0);
  constexpr std::int64_t sum = length * (length - 1) / 2;
  EXPECT_EQ(reals("TreeEnsemble", {rows({1, 1}, {-7})}, list_of(length, all), 5),
            Floats{static_cast<float>(sum)});
  Attributes endless = without(deep, "nodes_falseleafs");
  endless.push_back(named("nodes_falseleafs", Whole(length)));
  EXPECT_EQ(code("TreeEnsemble", {x}, endless, 5), ErrorCode::invalid_argument) << "no such branch";
  Whole back(length);
  std::iota(back.begin(), back.end(), 1);
  back.back() = 0;
  endless = without(endless, "nodes_falsenodeids");
  endless.push_back(named("nodes_falsenodeids", back));
  EXPECT_EQ(code("TreeEnsemble", {x}, endless, 5), ErrorCode::invalid_argument) << "a circle";
}

TEST_F(TreeEnsembles, go_to_no_leaf_that_is_not_there) {
  for (const std::int64_t place : {std::int64_t{4}, std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(code("TreeEnsemble", {ones({1, 2})},
                   with(without(sets(), "nodes_falsenodeids"),
                        {named("nodes_falsenodeids", Whole{2, 1, place})}),
                   5),
              ErrorCode::invalid_argument);
}

TEST_F(TreeEnsembles, number_their_transforms_as_the_standard_does) {
  // The standard's numbers. ONNX Runtime 1.30 takes LOGISTIC for 1 and SOFTMAX for 2; these are its results
  // for the other number.
  const Tensor x = rows({2, 2}, {2, 1, 4, 4});
  const auto of = [&](std::int64_t number) {
    return reals("TreeEnsemble", {x}, with(sets(), {named("post_transform", number)}), 5);
  };
  expect_near(of(1), {0.7311, 0.2689, 0.018, 0.982});
  expect_near(of(2), {0.7311, 0.5, 0.5, 0.982});
  expect_near(of(3), {1, 0, 0, 1});
  EXPECT_EQ(code("TreeEnsemble", {x}, with(sets(), {named("post_transform", std::int64_t{5})}), 5),
            ErrorCode::invalid_parameter);
}

TEST_F(TreeEnsembles, without_enough_sets_are_refused) {
  const Tensor x = ones({1, 2});
  EXPECT_EQ(code("TreeEnsemble", {x},
                 with(without(sets(), "membership_values"),
                      {named("membership_values", onnx::reals({2, nan}))}),
                 5),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("TreeEnsemble", {x}, without(sets(), "membership_values"), 5),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code("TreeEnsemble", {x},
                 with(without(sets(), "nodes_modes"), {named("nodes_modes", modes({6, 7, 0}))}), 5),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stoker::onnx
