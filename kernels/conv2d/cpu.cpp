#include "stoker/kernels/conv/finished.hpp"
#include "stoker/kernels/conv2d/problem.hpp"

namespace stoker::kernels::conv2d::STOKER_ISA {

void implement(CpuTable& table) {
  table.set("conv2d", [](const KernelCall& call, std::span<const TensorSpec>) -> Result<CpuPlan> {
    STOKER_ASSIGN(const conv::Problem problem, describe(call));
    return conv::STOKER_ISA::plan_finished(call.dtype(), problem, nullptr);
  });
}

}  // namespace stoker::kernels::conv2d::STOKER_ISA
