#include <cstring>

#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/fill/value.hpp"

namespace stoker::kernels::fill::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  STOKER_ASSIGN(const Pattern bytes, pattern(options::from<Fill>(call.params), outputs[0].dtype));
  const std::size_t total = outputs[0].bytes();
  const std::uint32_t slices = slice_count(total, std::size_t{256} << 10);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(total) * 0.03;
  plan.stages.push_back({slices, [bytes, total, slices](const CpuArgs& args, std::uint32_t index) {
                           // Slices begin at whole lines, so every line begins with the pattern.
                           alignas(64) std::byte block[4096];
                           for (std::size_t i = 0; i < sizeof block; i += bytes.size())
                             std::memcpy(block + i, bytes.data(), bytes.size());
                           const SliceRange range = slice_range(total, slices, index, 4096);
                           auto* out = args.out<std::byte>();
                           const bool streams = total >= cpu::stream_from_bytes;
                           for (std::size_t i = range.begin; i < range.end; i += sizeof block) {
                             const std::size_t n = std::min(sizeof block, range.end - i);
                             if (streams)
                               cpu::stream_copy(out + i, block, n);
                             else
                               std::memcpy(out + i, block, n);
                           }
                           if (streams) cpu::stream_fence();
                         }});
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("fill", &plan); }

}  // namespace stoker::kernels::fill::STOKER_ISA
