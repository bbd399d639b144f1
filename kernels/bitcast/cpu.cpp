#include "stoker/kernels/cpu/copy_plan.hpp"

namespace stoker::kernels::bitcast::STOKER_ISA {
namespace {

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return cpu::STOKER_ISA::copy_plan(call.inputs[0].bytes());
}

}  // namespace

void implement(CpuTable& table) { table.set("bitcast", &plan); }

}  // namespace stoker::kernels::bitcast::STOKER_ISA
