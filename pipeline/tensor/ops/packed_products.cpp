// Products with weights that stay packed. They are not trained.
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"

namespace stoker::expr::ops::packed_products {

void define(OpTable& table) { table.add(kernel_op("packed_matmul", "packed_matmul")); }

}  // namespace stoker::expr::ops::packed_products
