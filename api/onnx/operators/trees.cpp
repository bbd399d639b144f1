// The domain ai.onnx.ml: ensembles of trees. https://onnx.ai/onnx/operators/onnx_aionnxml_TreeEnsemble.html
//
// All trees go down together, one level a step: each row holds a place for each tree, and leaves lead to themselves.
#include <algorithm>
#include <limits>

#include "stoker/api/onnx/core/operator.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx::operators::trees {
namespace {

/// Comparisons of x with a split: ≤ (0), <, ≥, >, =, ≠, and membership of a set.
constexpr std::int64_t lt = 1, gte = 2, gt = 3, eq = 4, neq = 5, member = 6;

struct Forest {
  Axes features, modes, on_true, on_false;  ///< of nodes, then of leaves, which lead to themselves
  Axes roots;
  std::int64_t depth = 0;
};

Forest forest_of(const Call& call) {
  const Node& node = call.node();
  const auto list = [&](const char* name) {
    const auto* found = node.integers(name);
    if (found == nullptr)
      call.refuse(ErrorCode::invalid_argument, std::string{"it has no "} + name);
    return *found;
  };
  Forest made{.features = list("nodes_featureids"),
              .modes = call.walker().constant(node.tensor("nodes_modes")).known().to_integers(),
              .on_true = list("nodes_truenodeids"),
              .on_false = list("nodes_falsenodeids"),
              .roots = list("tree_roots")};
  const Axes true_leaves = list("nodes_trueleafs");
  const Axes false_leaves = list("nodes_falseleafs");
  const auto nodes = static_cast<std::int64_t>(made.features.size());
  const auto leaves = static_cast<std::int64_t>(list("leaf_targetids").size());
  if (made.modes.size() != made.features.size() || made.on_true.size() != made.features.size() ||
      made.on_false.size() != made.features.size() || true_leaves.size() != made.features.size() ||
      false_leaves.size() != made.features.size())
    call.refuse(ErrorCode::invalid_argument, "the lists of nodes differ in length");
  for (std::size_t i = 0; i < made.features.size(); ++i) {
    if (true_leaves[i] != 0) made.on_true[i] += nodes;
    if (false_leaves[i] != 0) made.on_false[i] += nodes;
  }
  for (std::int64_t leaf = 0; leaf < leaves; ++leaf) {
    made.features.push_back(0);
    made.modes.push_back(eq);
    made.on_true.push_back(nodes + leaf);
    made.on_false.push_back(nodes + leaf);
  }
  for (const Axes* ids : {&made.on_true, &made.on_false, &made.roots})
    for (const std::int64_t id : *ids)
      if (id < 0 || id >= nodes + leaves)
        call.refuse(ErrorCode::invalid_argument, "a node that is not there");
  // Level by level, until all are leaves; a path longer than all nodes is a cycle.
  Axes level = made.roots;
  for (; std::ranges::any_of(level, [&](std::int64_t id) { return id < nodes; }); ++made.depth) {
    if (made.depth > nodes) call.refuse(ErrorCode::invalid_argument, "the nodes are no trees");
    Axes next;
    for (const std::int64_t id : level) {
      if (id >= nodes) continue;
      next.push_back(made.on_true[static_cast<std::size_t>(id)]);
      next.push_back(made.on_false[static_cast<std::size_t>(id)]);
    }
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    level = std::move(next);
  }
  return made;
}

Tensor indices(const Axes& values) { return as_type(Known::integers(values).tensor(), DType::s32); }

Values tree_ensemble(Call& call) {
  const Node& node = call.node();
  if (call.rank() != 2) call.refuse(ErrorCode::shape_mismatch, "expected [batch, features]");
  const Forest forest = forest_of(call);
  if (std::ranges::find(forest.modes, member) != forest.modes.end())
    call.refuse(ErrorCode::unsupported, "sets of members");
  const Tensor x = call.x();
  const std::int64_t rows = call.shape()[0];
  const auto trees = static_cast<std::int64_t>(forest.roots.size());
  const Tensor modes = indices(forest.modes);
  const Tensor features = indices(forest.features);
  const Tensor on_true = indices(forest.on_true);
  const Tensor on_false = indices(forest.on_false);
  const std::int64_t leaves = static_cast<std::int64_t>(node.integers("leaf_targetids")->size());
  const Tensor splits =
      concatenate({as_type(call.walker().constant(node.tensor("nodes_splits")).tensor(), x.dtype()),
                   zeros({leaves}, x.dtype())});
  Tensor at = broadcast(indices(forest.roots), Shape{rows, trees});
  for (std::int64_t step = 0; step < forest.depth; ++step) {
    const Tensor value = take_along_axis(x, take(features, at), 1);
    const Tensor split = take(splits, at);
    const Tensor mode = take(modes, at);
    Tensor goes = less_equal(value, split);
    goes = select(equal(mode, lt), less(value, split), goes);
    goes = select(equal(mode, gte), greater_equal(value, split), goes);
    goes = select(equal(mode, gt), greater(value, split), goes);
    goes = select(equal(mode, eq), equal(value, split), goes);
    goes = select(equal(mode, neq), not_equal(value, split), goes);
    at = select(goes, take(on_true, at), take(on_false, at));
  }
  const Tensor leaf = at - (static_cast<std::int64_t>(forest.features.size()) - leaves);
  const Tensor weights =
      take(as_type(call.walker().constant(node.tensor("leaf_weights")).tensor(), x.dtype()), leaf);
  const Tensor targets = take(indices(*node.integers("leaf_targetids")), leaf);
  // [rows, trees, targets]: each tree speaks of one target.
  const std::int64_t count = node.integer("n_targets", 1);
  const Tensor speaks = equal(new_axis(targets, 2), iota_along(Shape{1, 1, count}, 2));
  const std::int64_t how = node.integer("aggregate_function", 1);
  const Reduce over{.axes = Axes{1}};
  const Tensor spread = new_axis(weights, 2);
  Tensor y;
  if (how == 0 || how == 1) {
    y = sum(select(speaks, spread, zeros_like(spread)), over);
    if (how == 0) y = y / static_cast<double>(trees);
  } else if (how == 2 || how == 3) {
    const double none = how == 2 ? std::numeric_limits<double>::infinity()
                                 : -std::numeric_limits<double>::infinity();
    const Tensor all = select(speaks, spread, full_like(spread, none));
    y = how == 2 ? reduce_min(all, over) : reduce_max(all, over);
    y = select(any(speaks, over), y, zeros_like(y));
  } else {
    call.refuse(ErrorCode::invalid_parameter, "aggregate_function " + std::to_string(how));
  }
  const std::int64_t after = node.integer("post_transform", 0);
  if (after == 1)
    y = sigmoid(y);
  else if (after == 2)
    y = softmax(y, 1);
  else if (after != 0)
    call.refuse(ErrorCode::unsupported, "post_transform " + std::to_string(after));
  return {call.like(y)};
}

}  // namespace

void define(OperatorTable& table) {
  table.add({.name = "TreeEnsemble",
             .domain = "ai.onnx.ml",
             .since = {5},
             .attributes = {"aggregate_function", "leaf_targetids", "leaf_weights", "n_targets",
                            "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids",
                            "nodes_hitrates", "nodes_missing_value_tracks_true", "nodes_modes",
                            "nodes_splits", "nodes_trueleafs", "nodes_truenodeids",
                            "post_transform", "tree_roots"},
             .refuse = [](const Node& node, int) -> std::string {
               const auto* tracks = node.integers("nodes_missing_value_tracks_true");
               const bool tracked =
                   tracks && std::ranges::any_of(*tracks, [](auto one) { return one != 0; });
               return tracked ? "missing values that lead to the true side are not known" : "";
             },
             .lower = &tree_ensemble});
}

}  // namespace stoker::onnx::operators::trees
