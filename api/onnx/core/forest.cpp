#include "stoker/api/onnx/core/forest.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "stoker/api/onnx/core/host_rules.hpp"
#include "stoker/api/tensor/core/creation.hpp"
#include "stoker/api/tensor/math/elementwise.hpp"
#include "stoker/api/tensor/math/reductions.hpp"
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

/// `on(branch)` for each, then `leaf` for each leaf.
template <class T, class F>
std::vector<T> of_nodes(const std::vector<Branch>& branches, std::int64_t leaves, T leaf, F&& on) {
  std::vector<T> all;
  all.reserve(branches.size() + static_cast<std::size_t>(leaves));
  for (const Branch& one : branches) all.push_back(static_cast<T>(on(one)));
  all.insert(all.end(), static_cast<std::size_t>(leaves), leaf);
  return all;
}

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

/// Level by level, until all are leaves; a path longer than all branches is a cycle.
std::int64_t Forest::depth_of_all() const {
  std::int64_t depth = 0;
  std::vector<std::int64_t> level = roots_;
  for (;; ++depth) {
    std::erase_if(level, [&](std::int64_t node) { return node >= branches(); });
    if (level.empty()) return depth;
    if (depth >= branches())
      call_.refuse(ErrorCode::invalid_argument, "a tree has a branch below itself");
    std::vector<std::int64_t> next;
    for (const std::int64_t node : level) {
      next.push_back(branches_[static_cast<std::size_t>(node)].on_true);
      next.push_back(branches_[static_cast<std::size_t>(node)].on_false);
    }
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
    level = std::move(next);
  }
}

std::vector<std::vector<std::int64_t>> Forest::leaves_by_tree() const {
  std::vector<std::vector<std::int64_t>> all;
  std::vector<bool> seen(branches_.size());
  for (const std::int64_t root : roots_) {
    all.emplace_back();
    std::vector<std::int64_t> open{root};
    while (!open.empty()) {
      const std::int64_t node = open.back();
      open.pop_back();
      if (node >= branches()) {
        all.back().push_back(node - branches());
      } else if (!seen[static_cast<std::size_t>(node)]) {
        seen[static_cast<std::size_t>(node)] = true;
        open.push_back(branches_[static_cast<std::size_t>(node)].on_true);
        open.push_back(branches_[static_cast<std::size_t>(node)].on_false);
      } else {
        all.back().clear();  // trees that share branches: not looked into
        break;
      }
    }
  }
  return all;
}

/// Whether each target has a tree all of whose leaves vote for it.
bool Forest::votes_everywhere() const {
  std::vector<std::set<std::int64_t>> targets(static_cast<std::size_t>(leaves_));
  for (const Vote& vote : votes_) targets[static_cast<std::size_t>(vote.leaf)].insert(vote.target);
  std::set<std::int64_t> covered;
  for (const std::vector<std::int64_t>& leaves : leaves_by_tree()) {
    if (leaves.empty()) continue;
    std::set<std::int64_t> common = targets[static_cast<std::size_t>(leaves.front())];
    for (const std::int64_t leaf : leaves)
      std::erase_if(common, [&](std::int64_t target) {
        return !targets[static_cast<std::size_t>(leaf)].contains(target);
      });
    covered.merge(common);
  }
  return static_cast<std::int64_t>(covered.size()) == targets_;
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

Tensor Forest::goes_true(const Tensor& x, const Tensor& at) const {
  const auto numbers = [&](std::size_t part, std::int64_t leaf, auto&& on) {
    return take(table(part, of_nodes<std::int64_t>(branches_, leaves_, leaf, on)), at);
  };
  const Tensor value = take_along_axis(
      x, numbers(Part::features, 0, [](const Branch& one) { return one.feature; }), 1);
  const std::vector<double> all_splits =
      of_nodes<double>(branches_, leaves_, 0, [](const Branch& one) { return one.split; });
  const Tensor split =
      take(table(Part::splits, all_splits, Shape{branches() + leaves_}, x.dtype()), at);
  std::set<Comparison> used;
  bool minds_missing = false;
  std::size_t longest = 0;
  for (const Branch& one : branches_) {
    used.insert(one.comparison);
    minds_missing |= one.missing_is_true;
    longest = std::max(longest, one.members.size());
  }
  Tensor goes = compared(*used.begin(), value, split);
  if (used.size() > 1 || used.contains(Comparison::member)) {
    const Tensor how =
        numbers(Part::comparisons, static_cast<std::int64_t>(*used.begin()),
                [](const Branch& one) { return static_cast<std::int64_t>(one.comparison); });
    for (const Comparison one : used) {
      Tensor other = compared(one, value, split);
      if (one == Comparison::member) {
        // A row of members for each set, ended by NaN, which nothing is equal to.
        std::vector<double> all;
        std::int64_t count = 0;
        const std::vector<std::int64_t> which =
            of_nodes<std::int64_t>(branches_, leaves_, 0, [&](const Branch& branch) {
              if (branch.comparison != Comparison::member) return std::int64_t{0};
              all.insert(all.end(), branch.members.begin(), branch.members.end());
              all.resize(static_cast<std::size_t>(++count) * longest,
                         std::numeric_limits<double>::quiet_NaN());
              return count - 1;
            });
        check_host_count(call_, static_cast<std::int64_t>(all.size()));
        const Shape shape{count, static_cast<std::int64_t>(longest)};
        const Tensor set =
            take(table(Part::members, all, shape, x.dtype()), take(table(Part::sets, which), at));
        other = any(equal(new_axis(value, -1), set), Reduce{.axes = Axes{-1}});
      }
      goes = select(equal(how, static_cast<std::int64_t>(one)), other, goes);
    }
  }
  if (minds_missing)
    goes = logical_or(goes,
                      logical_and(is_nan(value), numbers(Part::missing, 0, [](const Branch& one) {
                                    return one.missing_is_true ? 1 : 0;
                                  })));
  return goes;
}

Tensor Forest::leaves_of(const Tensor& x) const {
  for (const Branch& one : branches_)
    if (one.feature >= x.shape()[1])
      call_.refuse(
          ErrorCode::shape_mismatch,
          "a tree asks for feature " + std::to_string(one.feature) + " of " + x.spec().to_string());
  const auto children = [&](std::size_t part, std::int64_t Branch::*side) {
    std::vector<std::int64_t> all;
    for (const Branch& one : branches_) all.push_back(one.*side);
    for (std::int64_t leaf = 0; leaf < leaves_; ++leaf) all.push_back(branches() + leaf);
    return table(part, all);
  };
  const Shape shape{x.shape()[0], static_cast<std::int64_t>(roots_.size())};
  Tensor at = broadcast(table(Part::roots, roots_), shape);
  for (std::int64_t step = 0; step < depth_; ++step)
    at = select(goes_true(x, at), take(children(Part::on_true, &Branch::on_true), at),
                take(children(Part::on_false, &Branch::on_false), at));
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
