#include <algorithm>
#include <type_traits>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/random_bits/layout.hpp"
#include "stoker/kernels/random_bits/threefry.hpp"

namespace stoker::kernels::random_bits::STOKER_ISA {
namespace {

/// Blocks computed at a time: their words stay in the first-level cache until they are narrowed or
/// joined.
constexpr std::size_t chunk = 256;

/// Words of blocks [first, first + n) whose counters are (j, half + j).
void fill_words(const KeySchedule& key, std::uint32_t first, std::uint32_t half, std::size_t n,
                std::uint32_t* x0, std::uint32_t* x1) noexcept {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t j = first + static_cast<std::uint32_t>(i);
    const Words random = threefry(key, {j, half + j});
    x0[i] = random.x0;
    x1[i] = random.x1;
  }
}

template <class T> void narrow(const std::uint32_t* words, T* to, std::size_t n) noexcept {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<T>(words[i]);
}

template <class T>
void write(const Layout& layout, std::size_t first, std::size_t n, const std::uint32_t* x0,
           const std::uint32_t* x1, T* out) noexcept {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i)
      out[first + i] = static_cast<std::uint64_t>(x0[i]) << 32 | x1[i];
  } else {
    const std::size_t second = layout.blocks + first;
    narrow(x0, out + first, n);
    narrow(x1, out + second, std::min<std::size_t>(n, layout.words - second));
  }
}

template <class T> void run_slice(const Layout& layout, const CpuArgs& args, SliceRange range) {
  const auto* given = args.in<std::uint32_t>(0);
  const KeySchedule key = key_schedule(given[0], given[1]);
  const auto half = static_cast<std::uint32_t>(layout.blocks);
  alignas(64) std::uint32_t x0[chunk];
  alignas(64) std::uint32_t x1[chunk];
  for (std::size_t first = range.begin; first < range.end; first += chunk) {
    const std::size_t n = std::min(chunk, range.end - first);
    fill_words(key, static_cast<std::uint32_t>(first), half, n, x0, x1);
    // The odd word out is paired with a padding of 0.
    if (layout.words % 2 != 0 && first + n == layout.blocks)
      x0[n - 1] = threefry(key, {half - 1, 0}).x0;
    write(layout, first, n, x0, x1, args.out<T>());
  }
}

Result<CpuPlan> plan_bits(const KernelCall&, std::span<const TensorSpec> outputs) {
  const Layout layout = Layout::of(outputs[0]);
  const std::uint32_t slices = slice_count(layout.blocks, std::size_t{16} << 10);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(layout.blocks) * 3;
  const auto add = [&]<class T>() {
    plan.stages.push_back({slices, [layout, slices](const CpuArgs& args, std::uint32_t index) {
                             run_slice<T>(layout, args,
                                          slice_range(layout.blocks, slices, index, chunk));
                           }});
  };
  switch (size_of(outputs[0].dtype)) {
    case 1: add.template operator()<std::uint8_t>(); break;
    case 2: add.template operator()<std::uint16_t>(); break;
    case 4: add.template operator()<std::uint32_t>(); break;
    default: add.template operator()<std::uint64_t>(); break;
  }
  return plan;
}

void run_pairs(const Pairs& pairs, const CpuArgs& args, SliceRange range) noexcept {
  const auto* keys = args.in<std::uint32_t>(0);
  const auto* counters = args.in<std::uint32_t>(1);
  auto* out = args.out<std::uint32_t>();
  const std::size_t key_step = pairs.single_key ? 0 : 2;
  const std::size_t counter_step = pairs.single_counter ? 0 : 2;
#pragma GCC ivdep
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const std::uint32_t* key = keys + i * key_step;
    const std::uint32_t* counter = counters + i * counter_step;
    const Words random = threefry(key_schedule(key[0], key[1]), {counter[0], counter[1]});
    out[2 * i] = random.x0;
    out[2 * i + 1] = random.x1;
  }
}

Result<CpuPlan> plan_raw(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Pairs pairs = Pairs::of(call, outputs[0]);
  const std::uint32_t slices = slice_count(pairs.blocks, std::size_t{16} << 10);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(pairs.blocks) * 8;
  plan.stages.push_back({slices, [pairs, slices](const CpuArgs& args, std::uint32_t index) {
                           run_pairs(pairs, args, slice_range(pairs.blocks, slices, index, chunk));
                         }});
  return plan;
}

}  // namespace

void implement(CpuTable& table) {
  table.set("random_bits", &plan_bits);
  table.set("threefry2x32", &plan_raw);
}

}  // namespace stoker::kernels::random_bits::STOKER_ISA
