// The bits of elements as those of another dtype.
#include "stoker/pipeline/tensor/graph/batching.hpp"
#include "stoker/pipeline/tensor/graph/kernel_op.hpp"

namespace stoker::expr::ops::bitcast {

void define(OpTable& table) {
  // A kernel of its own, not a view: what reads through a view would compute with a float on the way,
  // and a NaN may lose what it carries there. Bits have no slope, so there is no gradient.
  Op op = kernel_op("bitcast", "bitcast");
  op.batch = &batch_elements;
  table.add(std::move(op));
}

}  // namespace stoker::expr::ops::bitcast
