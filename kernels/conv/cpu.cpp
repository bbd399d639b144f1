#include "stoker/kernels/conv/direct.hpp"
#include "stoker/kernels/conv/library.hpp"
#include "stoker/kernels/cpu/convert.hpp"

namespace stoker::kernels::conv::STOKER_ISA {
namespace {

namespace convert = stoker::kernels::cpu::STOKER_ISA;

CpuPlan f32_plan(const Problem& p) {
  // Below, making and calling the library's code costs more than it gains.
  constexpr double library_work = 1 << 20;
  if (p.work() >= library_work)
    if (auto plan = library_plan(p)) return *std::move(plan);
  return direct_plan<float>(p);
}

constexpr std::size_t grain = std::size_t{64} << 10;

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// A plan for f32 between conversions: the 16-bit floats are summed in f32.
template <class S> CpuPlan widened(CpuPlan inner, std::size_t x, std::size_t k, std::size_t y) {
  const std::size_t k_at = aligned(x * sizeof(float));
  const std::size_t y_at = k_at + aligned(k * sizeof(float));
  const std::size_t rest_at = y_at + aligned(y * sizeof(float));
  const auto floats = [](const CpuArgs& args, std::size_t at) {
    return reinterpret_cast<float*>(args.scratch + at);
  };
  CpuPlan plan;
  plan.scratch_bytes = rest_at + inner.scratch_bytes;
  const std::uint32_t loads = slice_count(x + k, grain);
  plan.stages.push_back({loads, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange of_x = slice_range(x, loads, index);
                           const SliceRange of_k = slice_range(k, loads, index);
                           convert::load_block(args.in<S>(0) + of_x.begin,
                                               floats(args, 0) + of_x.begin, of_x.end - of_x.begin);
                           convert::load_block(args.in<S>(1) + of_k.begin,
                                               floats(args, k_at) + of_k.begin,
                                               of_k.end - of_k.begin);
                         }});
  for (CpuStage& stage : inner.stages)
    plan.stages.push_back(
        {stage.slices, [=, run = std::move(stage.run)](const CpuArgs& args, std::uint32_t index) {
           const void* inputs[] = {floats(args, 0), floats(args, k_at)};
           void* outputs[] = {floats(args, y_at)};
           run(CpuArgs{inputs, outputs, args.scratch + rest_at}, index);
         }});
  const std::uint32_t stores = slice_count(y, grain);
  plan.stages.push_back({stores, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(y, stores, index);
                           convert::store_block(
                               static_cast<const float*>(floats(args, y_at)) + range.begin,
                               args.out<S>() + range.begin, range.end - range.begin);
                         }});
  return plan;
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Problem p = describe(call, outputs[0].shape);
  const auto wide = [&]<class S>() {
    return widened<S>(f32_plan(p), call.inputs[0].elements(), call.inputs[1].elements(),
                      outputs[0].elements());
  };
  CpuPlan result;
  switch (call.dtype()) {
    case DType::f64: result = direct_plan<double>(p); break;
    case DType::f16: result = wide.template operator()<Half>(); break;
    case DType::bf16: result = wide.template operator()<BFloat16>(); break;
    default: result = f32_plan(p); break;
  }
  result.cost_ns = p.work() * 0.03 + static_cast<double>(outputs[0].elements()) + 500;
  return result;
}

}  // namespace

void implement(CpuTable& table) { table.set("conv", &plan); }

}  // namespace stoker::kernels::conv::STOKER_ISA
