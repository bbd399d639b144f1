#include "stoker/pipeline/tensor/fusion/reduction_fusion.hpp"

#include <algorithm>
#include <optional>

#include "stoker/pipeline/tensor/fusion/access.hpp"
#include "stoker/pipeline/tensor/program/uses.hpp"

namespace stoker::expr {
namespace {

class Finder {
 public:
  Finder(const Program& program, const Clusters& clusters)
      : program_{program}, clusters_{clusters}, uses_{program} {}

  std::map<std::uint32_t, ReductionFusion> find() const {
    std::map<std::uint32_t, ReductionFusion> found;
    for (std::uint32_t i = 0; i < program_.code.size(); ++i)
      if (auto one = fusion_of(i)) found.emplace(i, std::move(*one));
    return found;
  }

 private:
  [[nodiscard]] std::optional<ReductionFusion> fusion_of(std::uint32_t i) const {
    const Instruction& one = program_.code[i];
    if (one.op->kind != OpKind::kernel) return std::nullopt;
    const auto operation =
        std::ranges::find(kernels::reduce::operations, std::string_view{one.op->computed_by},
                          &kernels::reduce::OperationName::kernel);
    if (operation == std::end(kernels::reduce::operations)) return std::nullopt;
    ReductionFusion fusion;
    if (!find_values(one.inputs[0], fusion)) return std::nullopt;

    FusedReduction& reduction = fusion.reduction;
    reduction.operation = operation->operation;
    reduction.shape = program_.spec(one.inputs[0]).shape;
    const auto& axes = one.attributes.integers("axes");
    const auto rank = static_cast<std::int64_t>(reduction.shape.rank());
    reduction.reduced.assign(reduction.shape.rank(), axes.empty());
    for (const std::int64_t axis : axes)  // the shape rule has checked them
      reduction.reduced[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = true;
    reduction.keepdims = one.specs[0].shape.rank() == reduction.shape.rank();
    return fusion;
  }

  /// What is reduced; false if it lies in memory anyway.
  bool find_values(Ref from, ReductionFusion& fusion) const {
    while (true) {
      if (!uses_.read_once(from)) return false;
      const Instruction& one = program_.code[from.instruction];
      if (one.op->kind != OpKind::reshape || is_complex(program_.spec(one.inputs[0]).dtype)) break;
      from = one.inputs[0];
    }
    fusion.values = from;
    fusion.cluster = clusters_.of[from.instruction];
    if (fusion.cluster != Clusters::none) {
      const Cluster& cluster = clusters_.all[fusion.cluster];
      return cluster.outputs.size() == 1 && cluster.outputs[0] == from.instruction;
    }
    const OpKind kind = program_.code[from.instruction].op->kind;
    return kind == OpKind::view || kind == OpKind::constant || kind == OpKind::index;
  }

  const Program& program_;
  const Clusters& clusters_;
  const Uses uses_;
};

}  // namespace

std::map<std::uint32_t, ReductionFusion> find_fused_reductions(const Program& program,
                                                               const Clusters& clusters) {
  return Finder{program, clusters}.find();
}

}  // namespace stoker::expr
