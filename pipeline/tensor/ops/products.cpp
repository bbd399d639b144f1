// Matrix products.
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"
#include "stoker/pipeline/tensor/graph/primitives.hpp"

namespace stoker::expr::ops::products {
namespace {

/// C = A'·B' where ' is a transposition if the flag says so. Operands have rank 2 or more.
Values of_matmul(const Backward& b) {
  const bool ta = b.attributes.flag("transpose_a");
  const bool tb = b.attributes.flag("transpose_b");
  const Value ga = ta ? matmul(b.x(1), b.g(), tb, true) : matmul(b.g(), b.x(1), false, !tb);
  const Value gb = tb ? matmul(b.g(), b.x(0), true, ta) : matmul(b.x(0), b.g(), !ta, false);
  return {sum_to(ga, b.x(0).shape()), sum_to(gb, b.x(1).shape())};
}

}  // namespace

void define(OpTable& table) {
  Op matmul = kernel_op("matmul", "matmul", &of_matmul);
  matmul.infer = [checked = matmul.infer](const OpCall& call) -> Result<Specs> {
    const auto refuse = [&](ErrorCode code, const char* what) {
      return Error{"matmul",
                   code,
                   std::string{what} + " mismatch: lhs " + call.input(0).shape.to_string() +
                       ", rhs " + call.input(1).shape.to_string(),
                   {{"lhs", call.input(0).to_string()}, {"rhs", call.input(1).to_string()}}};
    };
    if (call.input(0).dtype != call.input(1).dtype)
      return refuse(ErrorCode::dtype_mismatch, "dtype");
    Result<Specs> made = checked(call);
    if (!made && made.error().code() == ErrorCode::shape_mismatch)
      return refuse(ErrorCode::shape_mismatch, "shape");
    return made;
  };
  matmul.batch = &batch_elements;  // its leading axes broadcast as those of elements do
  table.add(std::move(matmul));
}

}  // namespace stoker::expr::ops::products
