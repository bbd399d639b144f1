#include "stoker/pipeline/tensor/fusion/clusters.hpp"

#include <algorithm>
#include <set>

namespace stoker::expr {
namespace {

bool is_scalar(const Instruction& one) { return one.op->kind == OpKind::scalar; }

class Finder {
 public:
  explicit Finder(const Program& program)
      : program_{program},
        readers_{program.readers()},
        results_(program.code.size()),
        found_{{}, std::vector<std::uint32_t>(program.code.size(), Clusters::none)} {
    for (const Ref result : program.results) results_[result.instruction] = true;
  }

  Clusters find() {
    // Readers first.
    for (auto i = static_cast<std::uint32_t>(program_.code.size()); i-- > 0;)
      if (is_scalar(program_.code[i])) place(i);
    for (Cluster& cluster : found_.all) {
      std::ranges::reverse(cluster.members);
      for (const std::uint32_t member : cluster.members)
        if (member == cluster.members.back() || results_[member]) cluster.outputs.push_back(member);
    }
    return std::move(found_);
  }

 private:
  void place(std::uint32_t i) {
    std::uint32_t home = home_of_readers(i);
    if (home != Clusters::none && !fits(i, home)) home = Clusters::none;
    if (home == Clusters::none) {
      home = static_cast<std::uint32_t>(found_.all.size());
      found_.all.push_back({program_.code[i].specs[0].shape, {}, {}});
      operands_.emplace_back();
      outputs_.push_back(1);
    } else if (results_[i]) {
      ++outputs_[home];
    }
    found_.of[i] = home;
    found_.all[home].members.push_back(i);
    operands_[home].erase(i);
    for (const Ref input : program_.code[i].inputs)
      if (takes_buffer(program_, input.instruction)) operands_[home].insert(input.instruction);
  }

  [[nodiscard]] std::uint32_t home_of_readers(std::uint32_t i) const {
    const auto& readers = readers_[i];
    if (readers.empty()) return Clusters::none;
    const std::uint32_t home = found_.of[readers.front()];
    const bool one = std::ranges::all_of(
        readers, [&](std::uint32_t reader) { return found_.of[reader] == home; });
    return one ? home : Clusters::none;
  }

  [[nodiscard]] bool fits(std::uint32_t i, std::uint32_t home) const {
    if (program_.code[i].specs[0].shape != found_.all[home].shape) return false;
    std::set<std::uint32_t> operands = operands_[home];
    operands.erase(i);
    for (const Ref input : program_.code[i].inputs)
      if (takes_buffer(program_, input.instruction)) operands.insert(input.instruction);
    return operands.size() + outputs_[home] + (results_[i] ? 1 : 0) <= most_cluster_buffers;
  }

  const Program& program_;
  const std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<bool> results_;
  Clusters found_;
  std::vector<std::set<std::uint32_t>> operands_;  // of each cluster: what it reads from outside
  std::vector<std::size_t> outputs_;
};

}  // namespace

bool takes_buffer(const Program& program, std::uint32_t instruction) {
  const OpKind kind = program.code[instruction].op->kind;
  return kind != OpKind::constant && kind != OpKind::index;
}

Clusters find_clusters(const Program& program) { return Finder{program}.find(); }

}  // namespace stoker::expr
