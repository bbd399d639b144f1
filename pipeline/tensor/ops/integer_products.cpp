// Sums of products of 8-bit integers: exact in s32, and without a gradient.
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"

namespace stoker::expr::ops::integer_products {

void define(OpTable& table) {
  for (const char* name : {"integer_matmul", "integer_conv"}) {
    Op op = kernel_op(name, name);
    op.zero_gradient = true;
    table.add(std::move(op));
  }
}

}  // namespace stoker::expr::ops::integer_products
