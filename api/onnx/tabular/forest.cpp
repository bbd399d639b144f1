#include "stoker/api/onnx/tabular/forest.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
#include "stoker/api/tensor/transforms/control_flow.hpp"
#include "stoker/api/tensor/views/indexing.hpp"
#include "stoker/api/tensor/views/manipulation.hpp"

namespace stoker::onnx {
namespace {

/// Tables that one node prepares.
enum Part : std::size_t {
  roots,
  features,
  splits,
  comparisons,
  missing,
  on_true,
  on_false,
  sets,
  members,
  vote_targets,
  vote_weights,
  votes_there,
};

Tensor compared(Comparison how, const Tensor& x, const Tensor& split) {
  switch (how) {
    case Comparison::less: return less(x, split);
    case Comparison::greater_equal: return greater_equal(x, split);
    case Comparison::greater: return greater(x, split);
    case Comparison::equal: return equal(x, split);
    case Comparison::not_equal: return not_equal(x, split);
    case Comparison::less_equal:
    case Comparison::member: break;
  }
  return less_equal(x, split);
}

}  // namespace

/// On the device, an element for each node.
struct Forest::Nodes {
  Tensor features, splits, on_true, on_false;
  std::set<Comparison> used;
  Tensor comparisons;    ///< if several are used
  Tensor sets, members;  ///< if sets are used: which, and a row of members for each
  Tensor missing;        ///< if any leads to the true side
};

Forest::Forest(const Call& call, std::vector<Branch> branches, std::vector<std::int64_t> roots,
               std::int64_t leaves, std::vector<Vote> votes, std::int64_t targets)
    : call_{call},
      branches_{std::move(branches)},
      roots_{std::move(roots)},
      leaves_{leaves},
      votes_{std::move(votes)},
      targets_{targets} {
  const std::int64_t nodes = this->branches() + leaves_;
  const auto check_node = [&](std::int64_t node) {
    if (node < 0 || node >= nodes)
      call_.refuse(ErrorCode::invalid_argument, "a tree goes to a node that is not there");
  };
  if (roots_.empty() || leaves_ == 0 || targets_ < 1)
    call_.refuse(ErrorCode::invalid_argument, "there are no trees, leaves or targets");
  check_host_count(call_, nodes);
  check_host_count(call_, targets_);
  std::ranges::for_each(roots_, check_node);
  for (const Branch& one : branches_) {
    check_node(one.on_true);
    check_node(one.on_false);
    if (one.feature < 0) call_.refuse(ErrorCode::invalid_argument, "a feature below 0");
  }
  for (const Vote& vote : votes_)
    if (vote.leaf < 0 || vote.leaf >= leaves_ || vote.target < 0 || vote.target >= targets_)
      call_.refuse(ErrorCode::invalid_argument, "a vote for target " + std::to_string(vote.target) +
                                                    " of " + std::to_string(targets_));
  depth_ = depth_of_all();
}

/// What is below a branch is looked into once, however many ways lead there.
std::int64_t Forest::depth_of_all() const {
  constexpr std::int64_t unknown = -1, open = -2;  // open: on the way from the root
  std::vector<std::int64_t> depths(branches_.size(), unknown);
  const auto depth_of = [&](std::int64_t node) {
    return node < branches() ? depths[static_cast<std::size_t>(node)] : 0;
  };
  std::int64_t deepest = 0;
  for (const std::int64_t root : roots_) {
    std::vector<std::int64_t> ahead;
    if (root < branches()) ahead.push_back(root);
    while (!ahead.empty()) {
      const auto at = static_cast<std::size_t>(ahead.back());
      const Branch& branch = branches_[at];
      if (depths[at] != unknown) {  // what is below it is known
        ahead.pop_back();
        if (depths[at] == open)
          depths[at] = 1 + std::max(depth_of(branch.on_true), depth_of(branch.on_false));
        continue;
      }
      depths[at] = open;
      for (const std::int64_t child : {branch.on_true, branch.on_false}) {
        if (depth_of(child) == open)
          call_.refuse(ErrorCode::invalid_argument, "a tree has a branch below itself");
        if (depth_of(child) == unknown) ahead.push_back(child);
      }
    }
    deepest = std::max(deepest, depth_of(root));
  }
  return deepest;
}

/// Whether each target has a tree all of whose leaves vote for it.
bool Forest::votes_everywhere() const {
  std::vector<std::vector<std::int64_t>> targets(static_cast<std::size_t>(leaves_));
  for (const Vote& vote : votes_)
    targets[static_cast<std::size_t>(vote.leaf)].push_back(vote.target);
  std::vector<bool> seen(branches_.size()), covered(static_cast<std::size_t>(targets_));
  for (const std::int64_t root : roots_) {
    std::map<std::int64_t, std::int64_t> voters;  // leaves of this tree, by target
    std::int64_t leaves = 0;
    std::vector<std::int64_t> open{root};
    bool is_tree = true;
    while (!open.empty() && is_tree) {
      const std::int64_t node = open.back();
      open.pop_back();
      if (node < branches()) {
        const Branch& branch = branches_[static_cast<std::size_t>(node)];
        open.insert(open.end(), {branch.on_true, branch.on_false});
        is_tree = !seen[static_cast<std::size_t>(node)];  // shared branches are not looked into
        seen[static_cast<std::size_t>(node)] = true;
        continue;
      }
      ++leaves;
      std::vector<std::int64_t>& of_leaf = targets[static_cast<std::size_t>(node - branches())];
      std::ranges::sort(of_leaf);
      of_leaf.erase(std::unique(of_leaf.begin(), of_leaf.end()), of_leaf.end());
      for (const std::int64_t target : of_leaf) ++voters[target];
    }
    for (const auto& [target, count] : voters)
      if (is_tree && count == leaves) covered[static_cast<std::size_t>(target)] = true;
  }
  return std::ranges::all_of(covered, [](bool one) { return one; });
}

Tensor Forest::table(std::size_t part, const std::vector<std::int64_t>& numbers) const {
  return call_.walker().prepared(
      part, [&] { return as_type(Known::integers(numbers).tensor(), DType::s32); });
}

Tensor Forest::table(std::size_t part, const std::vector<double>& numbers, const Shape& shape,
                     DType dtype) const {
  // A node may be asked in both dtypes.
  const std::size_t of_dtype = 2 * part + (dtype == DType::f64 ? 101 : 100);
  return call_.walker().prepared(of_dtype, [&] {
    return as_type(Known::reals(numbers, shape, ElementType::f64).tensor(), dtype);
  });
}

template <class F> Tensor Forest::table(std::size_t part, std::int64_t leaf, F&& on) const {
  std::vector<std::int64_t> all;
  all.reserve(branches_.size() + static_cast<std::size_t>(leaves_));
  for (const Branch& one : branches_) all.push_back(static_cast<std::int64_t>(on(one)));
  all.insert(all.end(), static_cast<std::size_t>(leaves_), leaf);
  return table(part, all);
}

Forest::Nodes Forest::tables(DType dtype) const {
  Nodes made;
  made.features = table(Part::features, 0, [](const Branch& one) { return one.feature; });
  std::vector<double> splits;
  for (const Branch& one : branches_) splits.push_back(one.split);
  splits.resize(branches_.size() + static_cast<std::size_t>(leaves_));
  made.splits = table(Part::splits, splits, Shape{branches() + leaves_}, dtype);
  const auto children = [&](std::size_t part, std::int64_t Branch::*side) {
    std::vector<std::int64_t> all;
    for (const Branch& one : branches_) all.push_back(one.*side);
    for (std::int64_t leaf = 0; leaf < leaves_; ++leaf) all.push_back(branches() + leaf);
    return table(part, all);
  };
  made.on_true = children(Part::on_true, &Branch::on_true);
  made.on_false = children(Part::on_false, &Branch::on_false);
  std::size_t longest = 0;
  for (const Branch& one : branches_) {
    made.used.insert(one.comparison);
    longest = std::max(longest, one.members.size());
  }
  if (std::ranges::any_of(branches_, &Branch::missing_is_true))
    made.missing = table(Part::missing, 0, [](const Branch& one) { return one.missing_is_true; });
  const bool has_sets = made.used.contains(Comparison::member);
  if (made.used.size() > 1)
    made.comparisons = table(Part::comparisons, static_cast<std::int64_t>(*made.used.begin()),
                             [](const Branch& one) { return one.comparison; });
  if (!has_sets) return made;
  // A row of members for each set, filled up with NaN, which nothing is equal to.
  std::vector<double> all;
  std::int64_t count = 0;
  made.sets = table(Part::sets, 0, [&](const Branch& one) {
    if (one.comparison != Comparison::member) return std::int64_t{0};
    check_host_count(call_, (count + 1) * static_cast<std::int64_t>(longest));
    all.insert(all.end(), one.members.begin(), one.members.end());
    all.resize(static_cast<std::size_t>(++count) * longest,
               std::numeric_limits<double>::quiet_NaN());
    return count - 1;
  });
  made.members = table(Part::members, all, Shape{count, static_cast<std::int64_t>(longest)}, dtype);
  return made;
}

Tensor Forest::goes_true(const Nodes& nodes, const Tensor& x, const Tensor& at) const {
  const Tensor value = take_along_axis(x, take(nodes.features, at), 1);
  const Tensor split = take(nodes.splits, at);
  const auto answer = [&](Comparison how) {
    if (how != Comparison::member) return compared(how, value, split);
    const Tensor set = take(nodes.members, take(nodes.sets, at));
    return any(equal(new_axis(value, -1), set), Reduce{.axes = Axes{-1}});
  };
  Tensor goes = answer(*nodes.used.begin());
  if (nodes.used.size() > 1) {
    const Tensor how = take(nodes.comparisons, at);
    for (const Comparison one : nodes.used)
      if (one != *nodes.used.begin())
        goes = select(equal(how, static_cast<std::int64_t>(one)), answer(one), goes);
  }
  if (nodes.missing.has_value())
    goes = logical_or(goes, logical_and(is_nan(value), take(nodes.missing, at)));
  return goes;
}

Tensor Forest::leaves_of(const Tensor& x) const {
  for (const Branch& one : branches_)
    if (one.feature >= x.shape()[1])
      call_.refuse(
          ErrorCode::shape_mismatch,
          "a tree asks for feature " + std::to_string(one.feature) + " of " + x.spec().to_string());
  const Shape shape{x.shape()[0], static_cast<std::int64_t>(roots_.size())};
  Tensor at = broadcast(table(Part::roots, roots_), shape);
  if (depth_ > 0) {
    const Nodes nodes = tables(x.dtype());
    const auto after = [&](Tensor place, std::int64_t steps) {
      for (std::int64_t step = 0; step < steps; ++step)
        place = select(goes_true(nodes, x, place), take(nodes.on_true, place),
                       take(nodes.on_false, place));
      return place;
    };
    // A step is a few kernels of the program, so trees like lists would make programs without end.
    constexpr std::int64_t most_steps = 256, of_round = 16;
    if (depth_ <= most_steps)
      at = after(at, depth_);
    else
      at = while_loop(
          at, [&](const Tensor& place) { return any(less(place, branches())); },
          [&](const Tensor& place) { return after(place, of_round); });
  }
  return at - branches();
}

Verdict Forest::verdict(const Tensor& leaves, Aggregate how, DType dtype) const {
  std::vector<std::int64_t> votes_of(static_cast<std::size_t>(leaves_));
  for (const Vote& vote : votes_) ++votes_of[static_cast<std::size_t>(vote.leaf)];
  const bool one_each = std::ranges::all_of(votes_of, [](auto count) { return count <= 1; });
  const bool adds = how == Aggregate::sum || how == Aggregate::average;
  const auto place = [&](const Vote& vote) {
    return static_cast<std::size_t>(one_each ? vote.leaf : vote.leaf * targets_ + vote.target);
  };
  // [leaves] if each leaf votes for one target, else [leaves, targets].
  const Shape shape = one_each ? Shape{leaves_} : Shape{leaves_, targets_};
  if (!one_each) {
    check_host_count(call_, leaves_);
    check_host_count(call_, leaves_ * targets_);
  }
  const auto cells = static_cast<std::size_t>(shape.elements());
  std::vector<double> weights(cells);
  std::vector<std::int64_t> there(cells), targets(one_each ? cells : 0, -1);
  for (const Vote& vote : votes_) {
    const std::size_t at = place(vote);
    double& weight = weights[at];
    const double before = there[at] != 0 ? weight : vote.weight;
    weight = adds                    ? weight + vote.weight
             : how == Aggregate::min ? std::min(before, vote.weight)
                                     : std::max(before, vote.weight);
    there[at] = 1;
    if (one_each) targets[at] = vote.target;
  }
  // [rows, trees, targets]
  Tensor weight = take(table(Part::vote_weights, weights, shape, dtype), leaves);
  const bool everywhere = votes_everywhere();
  const bool minds = one_each || !everywhere || !adds;
  Tensor voted;
  if (one_each) {
    weight = new_axis(weight, 2);
    voted = equal(new_axis(take(table(Part::vote_targets, targets), leaves), 2),
                  iota_along(Shape{1, 1, targets_}, 2));
  } else if (minds) {
    voted = take(reshape(table(Part::votes_there, there), shape), leaves);
  }
  const Reduce over{.axes = Axes{1}};
  Verdict made;
  if (!everywhere) made.voted = any(voted, over);
  if (adds) {
    made.scores = sum(minds ? select(voted, weight, zeros_like(weight)) : weight, over);
    if (how == Aggregate::average) made.scores = made.scores / static_cast<double>(roots_.size());
    return made;
  }
  const double none = how == Aggregate::min ? std::numeric_limits<double>::infinity()
                                            : -std::numeric_limits<double>::infinity();
  const Tensor all = select(voted, weight, full_like(weight, none));
  made.scores = how == Aggregate::min ? reduce_min(all, over) : reduce_max(all, over);
  if (made.voted) made.scores = select(*made.voted, made.scores, zeros_like(made.scores));
  return made;
}

}  // namespace stoker::onnx
