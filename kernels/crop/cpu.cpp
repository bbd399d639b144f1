#include <algorithm>
#include <cstring>

#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/crop/options.hpp"
#include "stoker/kernels/image/image.hpp"

namespace stoker::kernels::crop::STOKER_ISA {
namespace {

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const image::Extent image = image::extent(call.shape());
  const std::size_t pixel = static_cast<std::size_t>(image.channels) * size_of(call.dtype());
  const std::size_t row_in = static_cast<std::size_t>(image.width) * pixel;
  const std::size_t row_out = static_cast<std::size_t>(outputs[0].shape[1]) * pixel;
  const auto given = options::from<Crop>(call.params);
  const std::size_t start =
      static_cast<std::size_t>(given.y) * row_in + static_cast<std::size_t>(given.x) * pixel;
  const auto rows = static_cast<std::size_t>(outputs[0].shape[0]);
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(slice_count(rows * row_out, std::size_t{1} << 18), rows));
  const bool streams = rows * row_out >= cpu::STOKER_ISA::stream_from_bytes;

  CpuPlan plan;
  plan.cost_ns = static_cast<double>(rows * row_out) * 0.05;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(rows, slices, index, 1);
                           const std::byte* from =
                               args.in<std::byte>(0) + start + range.begin * row_in;
                           std::byte* to = args.out<std::byte>() + range.begin * row_out;
                           for (std::size_t y = range.begin; y < range.end; ++y) {
                             if (streams)
                               cpu::STOKER_ISA::stream_copy(to, from, row_out);
                             else
                               std::memcpy(to, from, row_out);
                             from += row_in;
                             to += row_out;
                           }
                           if (streams) cpu::STOKER_ISA::stream_fence();
                         }});
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("crop", plan); }

}  // namespace stoker::kernels::crop::STOKER_ISA
