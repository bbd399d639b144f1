// Matrix products and determinants.
#include <numeric>

#include "stoker/api/onnx/exporting/wide_rule.hpp"

namespace stoker::onnx::exports::products {
namespace {

/// The last two axes exchanged; a vector has no other order.
std::string turned(const ExportCall& call, std::size_t operand) {
  const std::size_t rank = call.rank(operand);
  if (rank < 2) return call.x(operand);
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[rank - 1], axes[rank - 2]);
  return call.transposed(call.x(operand), axes);
}

Names matmul(ExportCall& call) {
  const bool a = call.flag("transpose_a");
  const bool b = call.flag("transpose_b");
  if ((a || b) && call.rank(0) == 2 && call.rank(1) == 2)
    return {call.node("Gemm", call.operands(),
                      {{"transA", std::int64_t{a}}, {"transB", std::int64_t{b}}})};
  return {call.node("MatMul", {a ? turned(call, 0) : call.x(0), b ? turned(call, 1) : call.x(1)})};
}

}  // namespace

void define(ExportTable& table) {
  table.add("matmul", &matmul);
  table.add("determinant", wide_rule(no_bf16, [](ExportCall& call) {
              return Names{call.node("Det", call.operands())};
            }));
}

}  // namespace stoker::onnx::exports::products
