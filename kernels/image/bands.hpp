// Work on the rows of an image as a plan for the CPU: each slice takes a band. Compiled once per instruction set.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "stoker/kernels/cpu_plan.hpp"

namespace stoker::image::STOKER_ISA {

struct Bands {
  std::int64_t height = 0;  ///< rows of the result
  std::size_t work = 0;     ///< operations on elements, or what counts them
  std::size_t grain = 1;    ///< of these, what pays for a slice
  std::size_t scratch = 0;  ///< bytes of a band
  double cost_ns = 0;       ///< of everything
};

/// The plan of band(args, scratch, rows) for bands of rows that cover the result, each with scratch memory of its own.
template <class Band> [[nodiscard]] CpuPlan band_plan(const Bands& all, Band band) {
  const auto height = static_cast<std::size_t>(all.height);
  const auto slices =
      static_cast<std::uint32_t>(std::min<std::size_t>(slice_count(all.work, all.grain), height));
  CpuPlan plan;
  plan.scratch_bytes = all.scratch * slices;
  plan.cost_ns = all.cost_ns;
  plan.stages.push_back(
      {slices,
       [band, height, slices, scratch = all.scratch](const CpuArgs& args, std::uint32_t index) {
         band(args, args.scratch + index * scratch, slice_range(height, slices, index, 1));
       }});
  return plan;
}

}  // namespace stoker::image::STOKER_ISA
