// The plan of a byte-for-byte copy of input 0 to output 0.
#pragma once

#include "stoker/kernels/cpu/stream.hpp"

namespace stoker::kernels::cpu::STOKER_ISA {

inline CpuPlan copy_plan(std::size_t bytes) {
  const std::uint32_t slices = slice_count(bytes, std::size_t{256} << 10);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(bytes) * 0.05;
  plan.stages.push_back({slices, [bytes, slices](const CpuArgs& args, std::uint32_t index) {
                           const auto* from = args.in<std::byte>(0);
                           auto* to = args.out<std::byte>();
                           if (from == to) return;
                           const auto [begin, end] = slice_range(bytes, slices, index, 4096);
                           if (bytes < stream_from_bytes) {
                             std::memcpy(to + begin, from + begin, end - begin);
                           } else {
                             stream_copy(to + begin, from + begin, end - begin);
                             stream_fence();
                           }
                         }});
  return plan;
}

}  // namespace stoker::kernels::cpu::STOKER_ISA
