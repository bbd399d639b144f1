// Kernels whose result at an element depends on that element alone, as plans for the CPU.
//
// Large results are written past the caches, in blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/cpu_plan.hpp"

namespace stoker::image::STOKER_ISA {

/// The plan of `row.apply(from, to, count)` over all elements, which are of type T. Each run of elements begins
/// at a multiple of four. Slices have at least `grain` elements; one element takes `cost_ns`.
template <class T, class Row>
[[nodiscard]] CpuPlan pointwise_plan(const KernelCall& call, const Row& row, std::size_t grain,
                                     double cost_ns) {
  namespace cpu = kernels::cpu::STOKER_ISA;
  const std::size_t elements = call.inputs[0].elements();
  const std::uint32_t slices = slice_count(elements, grain);
  const bool streams = elements * sizeof(T) >= cpu::stream_from_bytes;
  CpuPlan plan;
  plan.cost_ns = static_cast<double>(elements) * cost_ns;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(elements, slices, index);
                           const T* const from = args.in<T>(0);
                           T* const to = args.out<T>();
                           if (!streams)
                             return row.apply(from + range.begin, to + range.begin,
                                              range.end - range.begin);
                           constexpr std::size_t block = 4096;
                           alignas(64) T result[block];
                           for (std::size_t i = range.begin; i < range.end; i += block) {
                             const std::size_t n = std::min(block, range.end - i);
                             row.apply(from + i, result, n);
                             cpu::stream_copy(to + i, result, n * sizeof(T));
                           }
                           cpu::stream_fence();
                         }});
  return plan;
}

}  // namespace stoker::image::STOKER_ISA
