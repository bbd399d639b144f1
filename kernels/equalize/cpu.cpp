// Slices count, one slice makes a table of what each value becomes, and slices look it up.
#include <algorithm>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/histogram/count_bytes.hpp"
#include "stoker/kernels/image/image.hpp"

namespace stoker::kernels::equalize::STOKER_ISA {
namespace {

using namespace histogram::STOKER_ISA;

/// The counters of all slices, and then the tables of all channels.
struct Layout {
  std::size_t counters;  ///< of one slice
  std::uint32_t slices;

  [[nodiscard]] std::uint32_t* counters_of(const CpuArgs& args, std::size_t slice) const noexcept {
    return reinterpret_cast<std::uint32_t*>(args.scratch) + slice * counters;
  }
  [[nodiscard]] std::uint8_t* tables(const CpuArgs& args) const noexcept {
    return reinterpret_cast<std::uint8_t*>(counters_of(args, slices));
  }
};

/// What the values of a channel become, from how often each occurs among `pixels`.
void make_table(const std::uint64_t (&counts)[256], std::uint64_t pixels, std::uint8_t* table) {
  std::size_t first = 0;
  while (first < 255 && counts[first] == 0) ++first;
  const std::uint64_t rest = pixels - counts[first];
  std::uint64_t above_first = 0;
  for (std::size_t value = 0; value < 256; ++value) {
    if (value > first) above_first += counts[value];
    table[value] =
        static_cast<std::uint8_t>(rest == 0 ? value : (510 * above_first + rest) / (2 * rest));
  }
}

template <std::size_t Channels>
void make_tables(const Layout& layout, std::size_t pixels, const CpuArgs& args) {
  for (std::size_t c = 0; c < Channels; ++c) {
    std::uint8_t* const table = layout.tables(args) + 256 * c;
    if (c == 3) {
      for (std::size_t value = 0; value < 256; ++value)
        table[value] = static_cast<std::uint8_t>(value);
      continue;
    }
    std::uint64_t counts[256] = {};
    for (std::uint32_t slice = 0; slice < layout.slices; ++slice) {
      const std::uint32_t* const own = layout.counters_of(args, slice) + byte_counters * c;
      for (std::size_t i = 0; i < byte_counters; ++i) counts[i % 256] += own[i];
    }
    make_table(counts, pixels, table);
  }
}

template <std::size_t Channels> CpuPlan plan_for(std::size_t pixels) {
  const std::size_t counters = byte_counters * Channels;
  const std::uint32_t slices = slice_count(pixels * Channels, std::size_t{1} << 16);
  const Layout layout{counters, slices};
  CpuPlan plan;
  plan.scratch_bytes = slices * counters * sizeof(std::uint32_t) + 256 * Channels;
  plan.cost_ns = static_cast<double>(pixels * Channels) * 1.2;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(pixels, slices, index);
                           std::uint32_t* const own = layout.counters_of(args, index);
                           std::fill_n(own, counters, 0U);
                           count_bytes<Channels>(args.in<std::uint8_t>(0) + Channels * range.begin,
                                                 range.end - range.begin, own);
                         }});
  plan.stages.push_back({1, [=](const CpuArgs& args, std::uint32_t) {
                           make_tables<Channels>(layout, pixels, args);
                         }});
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(pixels, slices, index);
                           const std::uint8_t* const tables = layout.tables(args);
                           const std::uint8_t* const from = args.in<std::uint8_t>(0);
                           std::uint8_t* const to = args.out<std::uint8_t>();
                           for (std::size_t p = range.begin; p < range.end; ++p)
                             for (std::size_t c = 0; c < Channels; ++c)
                               to[Channels * p + c] = tables[256 * c + from[Channels * p + c]];
                         }});
  return plan;
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const image::Extent image = image::extent(call.shape());
  const auto pixels = static_cast<std::size_t>(image.height * image.width);
  switch (image.channels) {
    case 3: return plan_for<3>(pixels);
    case 4: return plan_for<4>(pixels);
    default: return plan_for<1>(pixels);
  }
}

}  // namespace

void implement(CpuTable& table) { table.set("equalize", plan); }

}  // namespace stoker::kernels::equalize::STOKER_ISA
