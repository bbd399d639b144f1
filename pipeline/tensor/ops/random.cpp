// Random bits.
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"

namespace stoker::expr::ops::random {

void define(OpTable& table) {
  for (const char* name : {"random_bits", "threefry2x32"}) {
    Op op = kernel_op(name, name);
    op.zero_gradient = true;
    table.add(std::move(op));
  }
}

}  // namespace stoker::expr::ops::random
