#include "stoker/pipeline/tensor/fusion/cluster_merging.hpp"

#include <algorithm>
#include <set>

#include "stoker/pipeline/tensor/fusion/product_fusion.hpp"
#include "stoker/pipeline/tensor/fusion/reduction_fusion.hpp"
#include "stoker/pipeline/tensor/program/uses.hpp"

namespace stoker::expr {
namespace {

/// Pairs further apart are left alone: what is stored by the one has left the cache when the other runs.
constexpr std::size_t widest = 512;

/// What runs as one: a cluster, or an instruction that is in none.
struct Piece {
  std::uint32_t cluster = Clusters::none;
  std::uint32_t instruction = 0;
  std::size_t place = 0;  // in the order
  std::uint64_t seen = 0;
};

class Merger {
 public:
  Merger(const Program& program, Clusters clusters)
      : program_{program}, uses_{program}, clusters_{std::move(clusters)} {
    const std::size_t count = clusters_.all.size();
    inside_reduction_.resize(count);
    finishes_product_.resize(count);
    for (const auto& [reader, fusion] : find_fused_reductions(program_, clusters_))
      if (fusion.cluster != Clusters::none) inside_reduction_[fusion.cluster] = true;
    for (const auto& [cluster, fusion] : find_fused_products(program_, clusters_))
      finishes_product_[cluster] = true;
    piece_of_.resize(program_.code.size());
    for (std::uint32_t i = 0; i < program_.code.size(); ++i) {
      const std::uint32_t cluster = clusters_.of[i];
      if (cluster != Clusters::none && clusters_.all[cluster].members.back() != i) continue;
      const auto number = static_cast<std::uint32_t>(pieces_.size());
      pieces_.push_back({cluster, i, order_.size(), 0});
      order_.push_back(number);
      if (cluster == Clusters::none)
        piece_of_[i] = number;
      else
        for (const std::uint32_t member : clusters_.all[cluster].members)
          piece_of_[member] = number;
    }
  }

  MergedClusters run() {
    // From the front, so that a chain grows at its end; what has grown is tried again.
    for (std::uint32_t number = 0; number < pieces_.size(); ++number)
      while (grow(number)) {
      }
    return finish();
  }

 private:
  [[nodiscard]] bool may_change(std::uint32_t cluster) const {
    return cluster != Clusters::none && !inside_reduction_[cluster];
  }

  /// Takes in one cluster that reads it.
  bool grow(std::uint32_t number) {
    const std::uint32_t own = pieces_[number].cluster;
    if (!may_change(own)) return false;
    for (const std::uint32_t member : clusters_.all[own].outputs)
      for (const std::uint32_t reader : uses_.readers({member, 0})) {
        const std::uint32_t other = piece_of_[reader];
        if (other != number && fits(own, pieces_[other].cluster) && is_free(number, other)) {
          merge(number, other);
          return true;
        }
      }
    return false;
  }

  [[nodiscard]] bool fits(std::uint32_t one, std::uint32_t other) const {
    if (!may_change(other) || clusters_.all[one].shape != clusters_.all[other].shape) return false;
    if (finishes_product_[one] && finishes_product_[other]) return false;
    const Cluster both = joined(clusters_.all[one], clusters_.all[other]);
    std::set<std::uint32_t> operands;
    for (const std::uint32_t member : both.members)
      for (const Ref input : program_.code[member].inputs)
        if (!std::ranges::binary_search(both.members, input.instruction) &&
            takes_buffer(program_, input.instruction))
          operands.insert(input.instruction);
    return operands.size() + both.outputs.size() <= most_cluster_buffers;
  }

  [[nodiscard]] Cluster joined(const Cluster& one, const Cluster& other) const {
    Cluster both{one.shape, {}, {}};
    std::ranges::merge(one.members, other.members, std::back_inserter(both.members));
    for (const std::uint32_t member : both.members) {
      const bool read_outside = std::ranges::any_of(
          uses_.readers({member, 0}),
          [&](std::uint32_t reader) { return !std::ranges::binary_search(both.members, reader); });
      if (read_outside || uses_.is_result({member, 0})) both.outputs.push_back(member);
    }
    return both;
  }

  /// Whether no way leads from one piece to the other but directly. Marks what can be reached from the
  /// first and stands before the second.
  bool is_free(std::uint32_t first, std::uint32_t last) {
    const std::size_t end = pieces_[last].place;
    if (end < pieces_[first].place || end - pieces_[first].place > widest) return false;
    // What the host does in between parts the program.
    for (std::size_t place = pieces_[first].place; place < end; ++place)
      if (program_.code[pieces_[order_[place]].instruction].op->kind == OpKind::host) return false;
    ++search_;
    std::vector<std::uint32_t> open{first};
    pieces_[first].seen = search_;
    while (!open.empty()) {
      const std::uint32_t here = open.back();
      open.pop_back();
      bool met = false;
      for_each_reader(here, [&](std::uint32_t next) {
        if (next == last) {
          met = met || here != first;
        } else if (pieces_[next].place < end && pieces_[next].seen != search_) {
          pieces_[next].seen = search_;
          open.push_back(next);
        }
      });
      if (met) return false;
    }
    return true;
  }

  template <class Visit> void for_each_reader(std::uint32_t number, Visit&& visit) const {
    const Piece& piece = pieces_[number];
    const auto of_one = [&](std::uint32_t instruction) {
      for (const std::uint32_t reader : uses_.readers({instruction, 0}))
        if (piece_of_[reader] != number) visit(piece_of_[reader]);
    };
    if (piece.cluster == Clusters::none) return of_one(piece.instruction);
    for (const std::uint32_t member : clusters_.all[piece.cluster].members) of_one(member);
  }

  /// `first` takes in `last`, right after the last search, which was for them. What depends on it moves
  /// behind it; the rest of what lies between may be what `last` reads, and comes before.
  void merge(std::uint32_t first, std::uint32_t last) {
    const std::size_t begin = pieces_[first].place, end = pieces_[last].place;
    std::vector<std::uint32_t> before, behind;
    for (std::size_t place = begin; place <= end; ++place) {
      const std::uint32_t one = order_[place];
      if (one == first || one == last) continue;
      (pieces_[one].seen == search_ ? behind : before).push_back(one);
    }
    std::size_t place = begin;
    const auto put = [&](std::uint32_t one) {
      order_[place] = one;
      pieces_[one].place = place++;
    };
    for (const std::uint32_t one : before) put(one);
    put(first);
    for (const std::uint32_t one : behind) put(one);
    put(last);  // empty from now on

    const std::uint32_t own = pieces_[first].cluster, other = pieces_[last].cluster;
    clusters_.all[own] = joined(clusters_.all[own], clusters_.all[other]);
    finishes_product_[own] = finishes_product_[own] || finishes_product_[other];
    for (const std::uint32_t member : clusters_.all[other].members) {
      piece_of_[member] = first;
      clusters_.of[member] = own;
    }
    clusters_.all[other].members.clear();
    clusters_.all[other].outputs.clear();
  }

  MergedClusters finish() {
    MergedClusters made;
    for (const std::uint32_t number : order_) {
      const Piece& piece = pieces_[number];
      if (piece.cluster == Clusters::none)
        made.order.push_back(piece.instruction);
      else if (!clusters_.all[piece.cluster].members.empty())
        made.order.push_back(clusters_.all[piece.cluster].members.back());
    }
    made.clusters = std::move(clusters_);
    return made;
  }

  const Program& program_;
  const Uses uses_;
  Clusters clusters_;
  std::vector<bool> inside_reduction_;  // by cluster
  std::vector<bool> finishes_product_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> piece_of_;  // by instruction
  std::vector<std::uint32_t> order_;     // of pieces
  std::uint64_t search_ = 0;
};

}  // namespace

MergedClusters merge_clusters(const Program& program, Clusters clusters) {
  return Merger{program, std::move(clusters)}.run();
}

}  // namespace stoker::expr
