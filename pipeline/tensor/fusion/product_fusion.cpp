#include "stoker/pipeline/tensor/fusion/product_fusion.hpp"

#include <algorithm>
#include <string_view>

#include "stoker/kernels/matmul/problem.hpp"
#include "stoker/pipeline/tensor/program/uses.hpp"

namespace stoker::expr {
namespace {

class Finder {
 public:
  Finder(const Program& program, const Clusters& clusters)
      : program_{program}, clusters_{clusters}, uses_{program} {}

  std::map<std::uint32_t, ProductFusion> find() const {
    std::map<std::uint32_t, ProductFusion> found;
    for (std::uint32_t i = 0; i < program_.code.size(); ++i) {
      const OpKind kind = program_.code[i].op->kind;
      const std::string_view kernel = program_.code[i].op->computed_by;
      if (kind != OpKind::kernel || (kernel != "matmul" && kernel != "conv")) continue;
      if (kernel == "matmul" && terms(program_.code[i]) > kernels::matmul::longest_sum) continue;
      Ref read{i, 0};
      const std::uint32_t cluster = reader_of(read);
      // The program's order makes a later product replace an earlier one.
      if (cluster != Clusters::none && fits(program_.spec({i, 0}), clusters_.all[cluster]))
        found[cluster] = {{i, 0}, read};
    }
    return found;
  }

 private:
  /// How many products make one of its elements. A sum that is cut into parts cannot go on.
  std::int64_t terms(const Instruction& matmul) const {
    const Shape& left = program_.spec(matmul.inputs[0]).shape;
    const bool across = matmul.attributes.flag("transpose_a") && left.rank() > 1;
    return left.rank() == 0 ? 0 : left[left.rank() - (across ? 2 : 1)];
  }
  /// The one cluster that alone reads it, through reshapes, which `read` then goes through; or none.
  std::uint32_t reader_of(Ref& read) const {
    while (true) {
      const auto& readers = uses_.readers(read);
      if (readers.empty() || uses_.is_result(read)) return Clusters::none;
      const std::uint32_t cluster = clusters_.of[readers[0]];
      if (cluster != Clusters::none) {
        const bool alone = std::ranges::all_of(
            readers, [&](std::uint32_t reader) { return clusters_.of[reader] == cluster; });
        return alone ? cluster : Clusters::none;
      }
      const Instruction& one = program_.code[readers[0]];
      if (readers.size() > 1 || one.op->kind != OpKind::reshape || is_complex(one.specs[0].dtype))
        return Clusters::none;
      read = {readers[0], 0};
    }
  }

  /// Whether each element of the cluster has one of the product.
  static bool fits(const TensorSpec& product, const Cluster& cluster) {
    return product.elements() > 0 && product.shape.elements() == cluster.shape.elements();
  }

  const Program& program_;
  const Clusters& clusters_;
  const Uses uses_;
};

}  // namespace

std::map<std::uint32_t, ProductFusion> find_fused_products(const Program& program,
                                                           const Clusters& clusters) {
  return Finder{program, clusters}.find();
}

}  // namespace stoker::expr
