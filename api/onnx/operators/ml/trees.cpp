// The domain ai.onnx.ml: ensembles of trees. https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsemble.html
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/onnx/tabular/classes.hpp"
#include "stoker/api/onnx/tabular/forest.hpp"
#include "stoker/api/onnx/tabular/post_transform.hpp"
#include "stoker/api/tensor/core/constants.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::ml::trees {
namespace {

const Axes& list(const Call& call, const std::string& name) {
  const auto* found = call.node().integers(name);
  if (found == nullptr) call.refuse(ErrorCode::invalid_argument, "it has no " + name);
  return *found;
}

/// A list that may be missing; else it has `count` entries.
Axes list_or(const Call& call, const std::string& name, std::size_t count) {
  Axes given = call.node().integers(name, Axes(count));
  if (given.size() != count)
    call.refuse(ErrorCode::invalid_argument, std::to_string(given.size()) + " entries in " + name +
                                                 ", expected " + std::to_string(count));
  return given;
}

/// Floats, or a tensor that may have doubles; nothing if neither is there.
std::vector<double> numbers(const Call& call, const std::string& name) {
  if (const auto* floats = call.node().reals(name)) return {floats->begin(), floats->end()};
  const std::string other = name + "_as_tensor";
  if (!call.node().has(other)) return {};
  return call.walker().constant(call.node().tensor(other)).known().to_reals();
}

bool has_doubles(const Call& call, const std::string& name) {
  return call.node().has(name) && call.node().tensor(name).type == ElementType::f64;
}

void check_alike(const Call& call, const char* what, std::initializer_list<std::size_t> sizes) {
  for (const std::size_t size : sizes)
    if (size != *sizes.begin())
      call.refuse(ErrorCode::invalid_argument,
                  "the lists of " + std::string{what} + " differ in length");
}

/// [rows, features] in a dtype in which no split and no element is rounded.
Tensor rows_of(const Call& call, bool splits_are_doubles) {
  if (call.rank() != 1 && call.rank() != 2)
    call.refuse(ErrorCode::shape_mismatch,
                "expected [batch, features], came " + call.input(0).to_string());
  const Tensor x = call.rank() == 1 ? new_axis(call.x(), 0) : call.x();
  return as_type(x, splits_are_doubles || x.dtype() == DType::f64 ? DType::f64 : DType::f32);
}

Aggregate aggregate_of(const Call& call, std::int64_t number) {
  if (number < 0 || number > 3)
    call.refuse(ErrorCode::invalid_parameter,
                "there is no aggregate_function " + std::to_string(number));
  return static_cast<Aggregate>(number);
}

// TreeEnsemble ------------------------------------------------------------------------------------

/// Sets stand one after the other, each with a NaN behind it, in the order of the branches that have one.
void add_members(const Call& call, std::vector<Branch>& branches) {
  std::vector<double> all;
  if (call.node().has("membership_values"))
    all = call.walker().constant(call.node().tensor("membership_values")).known().to_reals();
  auto at = all.begin();
  for (Branch& one : branches) {
    if (one.comparison != Comparison::member) continue;
    const auto end = std::find_if(at, all.end(), [](double member) { return std::isnan(member); });
    if (at == all.end() || end == at)
      call.refuse(ErrorCode::invalid_argument,
                  "membership_values has fewer sets than branches ask for");
    one.members.assign(at, end);
    at = end == all.end() ? end : end + 1;
  }
}

Forest forest_of_ensemble(const Call& call) {
  const Node& node = call.node();
  const Axes& features = list(call, "nodes_featureids");
  const Axes& on_true = list(call, "nodes_truenodeids");
  const Axes& on_false = list(call, "nodes_falsenodeids");
  const Axes& true_leaves = list(call, "nodes_trueleafs");
  const Axes& false_leaves = list(call, "nodes_falseleafs");
  const Axes modes = call.walker().constant(node.tensor("nodes_modes")).known().to_integers();
  const auto splits = call.walker().constant(node.tensor("nodes_splits")).known().to_reals();
  const Axes missing = list_or(call, "nodes_missing_value_tracks_true", features.size());
  check_alike(call, "nodes",
              {features.size(), on_true.size(), on_false.size(), true_leaves.size(),
               false_leaves.size(), modes.size(), splits.size()});
  const auto count = static_cast<std::int64_t>(features.size());
  const Axes& targets = list(call, "leaf_targetids");
  const auto leaves = static_cast<std::int64_t>(targets.size());
  const auto child = [&](const Axes& ids, const Axes& are_leaves, std::size_t i) {
    const bool is_leaf = are_leaves[i] != 0;
    if (ids[i] < 0 || ids[i] >= (is_leaf ? leaves : count)) return std::int64_t{-1};
    return is_leaf ? ids[i] + count : ids[i];
  };
  std::vector<Branch> branches;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (modes[i] < 0 || modes[i] > static_cast<std::int64_t>(Comparison::member))
      call.refuse(ErrorCode::invalid_argument,
                  "there is no mode " + std::to_string(modes[i]) + " of a node");
    branches.push_back({.feature = features[i],
                        .comparison = static_cast<Comparison>(modes[i]),
                        .split = splits[i],
                        .missing_is_true = missing[i] != 0,
                        .on_true = child(on_true, true_leaves, i),
                        .on_false = child(on_false, false_leaves, i)});
  }
  add_members(call, branches);
  const auto weights = call.walker().constant(node.tensor("leaf_weights")).known().to_reals();
  check_alike(call, "leaves", {targets.size(), weights.size()});
  std::vector<Vote> votes;
  for (std::size_t i = 0; i < targets.size(); ++i)
    votes.push_back({static_cast<std::int64_t>(i), targets[i], weights[i]});
  return {call,   std::move(branches), list(call, "tree_roots"),
          leaves, std::move(votes),    node.integer("n_targets", 1)};
}

Values ensemble(Call& call) {
  const Forest forest = forest_of_ensemble(call);
  const Tensor x = rows_of(call, has_doubles(call, "nodes_splits"));
  const Aggregate how = aggregate_of(call, call.node().integer("aggregate_function", 1));
  const Tensor scores = forest.verdict(forest.leaves_of(x), how, x.dtype()).scores;
  return {call.like(transformed(scores, post_transform_of(call)))};
}

// Before version 5: leaves are nodes, too, and a leaf may vote for several targets -------------------

/// A node of a tree, by the numbers that the lists call them.
struct Place {
  std::int64_t tree, node;
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  std::size_t operator()(const Place& place) const noexcept {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(place.tree) * 0x9E3779B97F4A7C15U ^
                                    static_cast<std::uint64_t>(place.node));
  }
};

/// A leaf, or how a branch compares.
std::optional<Comparison> mode_of(const Call& call, const std::string& name) {
  constexpr std::array<std::string_view, 6> modes{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                  "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  if (name == "LEAF") return {};
  const auto* const found = std::ranges::find(modes, name);
  if (found == modes.end())
    call.refuse(ErrorCode::invalid_argument, "there is no mode '" + name + "' of a node");
  return static_cast<Comparison>(found - modes.begin());
}

/// `of`: "class" or "target".
Forest forest_of_nodes(const Call& call, const std::string& of, std::int64_t targets) {
  const Axes& trees = list(call, "nodes_treeids");
  const Axes& ids = list(call, "nodes_nodeids");
  const Axes& features = list(call, "nodes_featureids");
  const Axes& on_true = list(call, "nodes_truenodeids");
  const Axes& on_false = list(call, "nodes_falsenodeids");
  const std::vector<double> splits = numbers(call, "nodes_values");
  const auto* modes = call.node().texts("nodes_modes");
  if (modes == nullptr) call.refuse(ErrorCode::invalid_argument, "it has no nodes_modes");
  check_alike(call, "nodes",
              {trees.size(), ids.size(), features.size(), on_true.size(), on_false.size(),
               splits.size(), modes->size()});
  const Axes missing = list_or(call, "nodes_missing_value_tracks_true", trees.size());
  std::vector<std::optional<Comparison>> comparisons;
  for (const std::string& mode : *modes) comparisons.push_back(mode_of(call, mode));
  const auto branch_count = static_cast<std::int64_t>(
      std::ranges::count_if(comparisons, [](const auto& one) { return one.has_value(); }));
  std::unordered_map<Place, std::int64_t, PlaceHash> nodes;
  std::int64_t next_branch = 0, next_leaf = branch_count;
  for (std::size_t i = 0; i < trees.size(); ++i)
    if (!nodes.emplace(Place{trees[i], ids[i]}, comparisons[i] ? next_branch++ : next_leaf++)
             .second)
      call.refuse(ErrorCode::invalid_argument, "node " + std::to_string(ids[i]) + " of tree " +
                                                   std::to_string(trees[i]) + " is there twice");
  const auto find = [&](std::int64_t tree, std::int64_t id) {
    const auto found = nodes.find(Place{tree, id});
    return found == nodes.end() ? std::int64_t{-1} : found->second;
  };
  std::vector<Branch> branches;
  std::unordered_set<std::int64_t> children;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!comparisons[i]) continue;
    branches.push_back({.feature = features[i],
                        .comparison = *comparisons[i],
                        .split = splits[i],
                        .missing_is_true = missing[i] != 0,
                        .on_true = find(trees[i], on_true[i]),
                        .on_false = find(trees[i], on_false[i])});
    children.insert(branches.back().on_true);
    children.insert(branches.back().on_false);
  }
  // The root of a tree is its first node, or, if that is below another, the only branch that is below none.
  std::map<std::int64_t, std::int64_t> firsts;
  std::map<std::int64_t, Axes> tops;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const std::int64_t node = find(trees[i], ids[i]);
    firsts.try_emplace(trees[i], node);
    if (node < branch_count && !children.contains(node)) tops[trees[i]].push_back(node);
  }
  Axes roots;
  for (const auto& [tree, first] : firsts) {
    const bool is_root = !children.contains(first);
    if (!is_root && tops[tree].size() != 1)
      call.refuse(ErrorCode::invalid_argument, "tree " + std::to_string(tree) + " has no root");
    roots.push_back(is_root ? first : tops[tree][0]);
  }
  const Axes& vote_trees = list(call, of + "_treeids");
  const Axes& vote_nodes = list(call, of + "_nodeids");
  const Axes& vote_targets = list(call, of + "_ids");
  const std::vector<double> weights = numbers(call, of + "_weights");
  check_alike(call, "votes",
              {vote_trees.size(), vote_nodes.size(), vote_targets.size(), weights.size()});
  std::vector<Vote> votes;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::int64_t node = find(vote_trees[i], vote_nodes[i]);
    if (node < 0)
      call.refuse(ErrorCode::invalid_argument, "a vote of node " + std::to_string(vote_nodes[i]) +
                                                   " of tree " + std::to_string(vote_trees[i]) +
                                                   ", which is not there");
    // Converters write votes of branches, too, which do not count.
    if (node >= branch_count) votes.push_back({node - branch_count, vote_targets[i], weights[i]});
  }
  return {call,   std::move(branches), std::move(roots), next_leaf - branch_count, std::move(votes),
          targets};
}

/// One for each target, or none.
std::optional<Tensor> bases_of(const Call& call, std::int64_t targets, DType dtype) {
  const std::vector<double> given = numbers(call, "base_values");
  if (given.empty()) return {};
  if (static_cast<std::int64_t>(given.size()) != targets)
    call.refuse(ErrorCode::invalid_argument, "expected " + std::to_string(targets) +
                                                 " base_values, came " +
                                                 std::to_string(given.size()));
  return as_type(Known::reals(given, Shape{targets}, ElementType::f64).tensor(), dtype);
}

Values regressor(Call& call) {
  constexpr std::array<std::string_view, 4> names{"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = call.node().text("aggregate_function", "SUM");
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end())
    call.refuse(ErrorCode::invalid_parameter, "there is no aggregate_function '" + name + "'");
  const std::int64_t targets = call.node().integer("n_targets", 1);
  const Forest forest = forest_of_nodes(call, "target", targets);
  const Tensor x = rows_of(call, has_doubles(call, "nodes_values_as_tensor"));
  Tensor scores =
      forest.verdict(forest.leaves_of(x), aggregate_of(call, found - names.begin()), x.dtype())
          .scores;
  if (const auto base = bases_of(call, targets, x.dtype())) scores = scores + *base;
  return {Value{as_type(transformed(scores, post_transform_of(call)), DType::f32)}};
}

struct Decision {
  Tensor classes;  ///< [rows]
  Tensor scores;   ///< [rows, classes], transformed
};

/// Of two classes of which one has all votes, a number says which it is: what lies above the threshold is the second.
/// ONNX does not say what the scores are; these are ONNX Runtime's, but for PROBIT, of which it writes one.
Decision of_two(const Call& call, const Forest& forest, const Verdict& verdict) {
  const std::vector<Vote>& votes = forest.votes();
  const std::int64_t voted = votes.front().target;
  const bool all_positive =
      std::ranges::all_of(votes, [](const Vote& vote) { return vote.weight >= 0; });
  // One base value is that of the number.
  const std::vector<double> bases = numbers(call, "base_values");
  if (bases.size() > 2)
    call.refuse(ErrorCode::invalid_argument,
                "expected 1 or 2 base_values, came " + std::to_string(bases.size()));
  const double base =
      bases.empty() ? 0 : bases[bases.size() == 2 ? static_cast<std::size_t>(voted) : 0];
  const Tensor score = slice_along_axis(verdict.scores, voted, 1, 1) + base;
  const Tensor classes =
      as_type(squeeze(greater(score, all_positive ? 0.5 : 0.0), Axes{1}), DType::s32);
  const PostTransform how = post_transform_of(call);
  if (voted == 1) {
    const Tensor first = full_like(score, bases.size() == 2 ? bases[0] : 0.0);
    return {classes, transformed(concatenate({first, score}, 1), how)};
  }
  if (how == PostTransform::logistic)
    return {classes, concatenate({sigmoid(-score), sigmoid(score)}, 1)};
  const Tensor both = concatenate({all_positive ? 1 - score : -score, score}, 1);
  return {classes, how == PostTransform::probit ? transformed(both, how) : both};
}

Decision of_many(const Call& call, const Verdict& verdict, std::int64_t count) {
  Tensor scores = verdict.scores, compared = scores;
  if (const auto base = bases_of(call, count, scores.dtype()))
    scores = compared = scores + *base;
  else if (verdict.voted)  // a class that no tree votes for is not the first
    compared = select(*verdict.voted, scores, constants::neg_infinity(scores.dtype()));
  return {argmax(compared, Arg{.axis = 1}), transformed(scores, post_transform_of(call))};
}

Values classifier(Call& call) {
  const Classes classes{call, "classlabels_int64s"};
  const Forest forest = forest_of_nodes(call, "class", classes.count());
  const Tensor x = rows_of(call, has_doubles(call, "nodes_values_as_tensor"));
  const Verdict verdict = forest.verdict(forest.leaves_of(x), Aggregate::sum, x.dtype());
  std::set<std::int64_t> voted;
  for (const Vote& vote : forest.votes()) voted.insert(vote.target);
  const bool is_binary =
      classes.count() == 2 && voted.size() == 1 && numbers(call, "base_values").size() < 2;
  const Decision made =
      is_binary ? of_two(call, forest, verdict) : of_many(call, verdict, classes.count());
  return {classes.labels(made.classes), Value{as_type(made.scores, DType::f32)}};
}

std::vector<std::string> attributes(std::vector<std::string> more) {
  more.insert(more.end(),
              {"base_values", "base_values_as_tensor", "nodes_falsenodeids", "nodes_featureids",
               "nodes_hitrates", "nodes_hitrates_as_tensor", "nodes_missing_value_tracks_true",
               "nodes_modes", "nodes_nodeids", "nodes_treeids", "nodes_truenodeids", "nodes_values",
               "nodes_values_as_tensor", "post_transform"});
  return more;
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "TreeEnsemble",
             .domain = "ai.onnx.ml",
             .since = {5},
             .types = alike(float_types),
             .attributes = {"aggregate_function", "leaf_targetids", "leaf_weights",
                            "membership_values", "n_targets", "nodes_falseleafs",
                            "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates",
                            "nodes_missing_value_tracks_true", "nodes_modes", "nodes_splits",
                            "nodes_trueleafs", "nodes_truenodeids", "post_transform", "tree_roots"},
             .lower = &ensemble});
  table.add(
      {.name = "TreeEnsembleRegressor",
       .domain = "ai.onnx.ml",
       .since = {1, 3},
       .types = {.operands = {number_types}, .results = {ElementType::f32}},
       .attributes = attributes({"aggregate_function", "n_targets", "target_ids", "target_nodeids",
                                 "target_treeids", "target_weights", "target_weights_as_tensor"}),
       .lower = &regressor});
  table.add(
      {.name = "TreeEnsembleClassifier",
       .domain = "ai.onnx.ml",
       .since = {1, 3},
       .most_outputs = 2,
       .types = {.operands = {number_types}, .results = {ElementType::undefined, ElementType::f32}},
       .attributes =
           attributes({"class_ids", "class_nodeids", "class_treeids", "class_weights",
                       "class_weights_as_tensor", "classlabels_int64s", "classlabels_strings"}),
       .lower = &classifier});
}

}  // namespace stoker::onnx::operators::ml::trees
