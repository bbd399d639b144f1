#include "stoker/pipeline/script/run/next_results.hpp"

#include <utility>

#include "stoker/pipeline/script/run/node_account.hpp"
#include "stoker/pipeline/tensor/graph/op.hpp"

namespace stoker::script {
namespace {

using NodePtr = std::shared_ptr<expr::Node>;

/// Whether anything is computed: a view is only read through, a leaf is no work.
bool is_computed(const expr::Node& node) {
  switch (node.op().kind) {
    case expr::OpKind::view:
    case expr::OpKind::reshape:
    case expr::OpKind::constant:
    case expr::OpKind::index: return false;
    default: return true;
  }
}

/// As many nodes as most evaluations have.
constexpr std::size_t few = 16;

/// A program reads at most that many nodes, views and leaves included, for each that it may compute.
constexpr std::size_t reads_per_result = 8;

class Selection {
 public:
  Selection(std::span<const expr::Value> wanted, std::size_t most) {
    order_.reserve(few);
    for (const expr::Value& value : wanted) visit(value.node());
    for (const expr::Value& value : wanted)
      if (!value.node()->is_known()) account_of(*value.node())->seen.is_wanted = true;
    // A view or a leaf that is wanted is computed, too. All others are still read and planned.
    const std::size_t most_read = reads_per_result * most;
    for (std::size_t computed = 0; end_ < order_.size() && computed < most && end_ < most_read;
         ++end_) {
      const expr::Node& node = *order_[end_].node;
      computed += is_computed(node) || account_of(node)->seen.is_wanted ? 1 : 0;
    }
    const bool cuts_views = end_ == most_read;
    for (const expr::Value& value : wanted) take_wanted(value.node());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Pending& reader = order_[i];
      const bool again = is_computed(*reader.node) && !account_of(*reader.node)->ran;
      for (const expr::Value& input : reader.inputs)
        if (i >= end_ && cuts_views)
          take_part(input.node());
        else if (i >= end_)
          take_computed(input.node(), false);
        else if (again)
          take_computed(input.node(), true);
    }
  }

  std::vector<NodePtr> take() { return std::move(results_); }

 private:
  struct Pending {
    NodePtr node;
    expr::Values inputs;
    std::size_t next = 0;
  };

  /// Adds what the node stands on and is not known, inputs first.
  void visit(const NodePtr& root) {
    std::vector<Pending> path;  // by hand, because a chain may be longer than the stack is deep
    path.reserve(few);
    const auto enter = [&](const NodePtr& node) {
      if (node->is_known() || account_of(*node)->seen.search == search_) return;
      account_of(*node)->seen = {search_, 0, false};
      path.push_back({node, node->inputs()});
    };
    enter(root);
    while (!path.empty()) {
      if (path.back().next < path.back().inputs.size()) {
        enter(NodePtr{path.back().inputs[path.back().next++].node()});
      } else {
        account_of(*path.back().node)->seen.position = order_.size();
        order_.push_back(std::move(path.back()));
        path.pop_back();
      }
    }
  }

  /// Whether the program computes it.
  [[nodiscard]] bool is_part(const expr::Node& node) const {
    const NodeAccount& account = *account_of(node);
    return account.seen.search == search_ && account.seen.position < end_;
  }

  void add(const NodePtr& node) {
    if (!std::exchange(account_of(*node)->seen.is_result, true)) results_.push_back(node);
  }

  void take_wanted(const NodePtr& node) {
    if (!is_part(*node)) return;
    add(node);
    if (!is_computed(*node)) take_computed(node, true);
  }

  void take_part(const NodePtr& node) {
    if (is_part(*node)) add(node);
  }

  /// The node or what it is a view of; if `again`, only what ran before.
  void take_computed(const NodePtr& node, bool again) {
    if (!is_part(*node)) return;
    if (!is_computed(*node)) {
      for (const expr::Value& input : order_[account_of(*node)->seen.position].inputs)
        take_computed(input.node(), again);
    } else if (!again || account_of(*node)->ran) {
      add(node);
    }
  }

  const std::uint64_t search_ = expr::Node::next_serial();
  std::vector<Pending> order_;  // inputs before those who use them
  std::size_t end_ = 0;         // of what the program computes
  std::vector<NodePtr> results_;
};

}  // namespace

std::vector<std::shared_ptr<expr::Node>> next_results(std::span<const expr::Value> wanted,
                                                      std::size_t most) {
  return Selection{wanted, most}.take();
}

}  // namespace stoker::script
