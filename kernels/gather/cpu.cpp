#include "stoker/kernels/gather/options.hpp"
#include "stoker/kernels/gather/rows.hpp"

namespace stoker::kernels::gather::STOKER_ISA {
namespace {

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  STOKER_ASSIGN(
      const std::vector<std::size_t> axes,
      indexing::vector_axes("gather", call, options::from<Gather>(call.params).axes.list()));
  return rows_plan(indexing::lookup_vectors(call.shape(0), call.shape(1), axes), call.dtype(1),
                   outputs[0]);
}

}  // namespace

void implement(CpuTable& table) { table.set("gather", &plan); }

}  // namespace stoker::kernels::gather::STOKER_ISA
