#include <cmath>
#include <limits>
#include <type_traits>

#include "stoker/kernels/cast/same_bits.hpp"
#include "stoker/kernels/cpu/copy_plan.hpp"
#include "stoker/kernels/cpu/saturate.hpp"

namespace stoker::kernels::cast::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

/// Every conversion goes through one of six types that hold each source value exactly: 13 loads
/// and 6 × 13 stores instead of 13 × 13 conversions.
template <class T>
using Wide = std::conditional_t<
    std::is_floating_point_v<cpu::Compute<T>>, cpu::Compute<T>,
    std::conditional_t<sizeof(T) == 8, T,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>>;

template <class T> void load(const void* from, void* to, std::size_t n) noexcept {
  auto* wide = static_cast<Wide<T>*>(to);
  if constexpr (std::is_same_v<T, bool>) {
    const auto* bytes = static_cast<const std::uint8_t*>(from);
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) wide[i] = bytes[i] != 0 ? 1U : 0U;
  } else if constexpr (std::is_floating_point_v<Wide<T>>) {
    cpu::load_block(static_cast<const T*>(from), wide, n);
  } else {
    const auto* elements = static_cast<const T*>(from);
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) wide[i] = elements[i];
  }
}

template <class W, class T> void store(const void* from, void* to, std::size_t n) noexcept {
  const auto* wide = static_cast<const W*>(from);
  if constexpr (std::is_same_v<T, bool>) {
    auto* bytes = static_cast<std::uint8_t*>(to);
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) bytes[i] = wide[i] != W{0} ? 1 : 0;
  } else if constexpr (std::is_same_v<cpu::Compute<T>, W>) {
    cpu::store_block(wide, static_cast<T*>(to), n);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    auto* bits = static_cast<std::uint16_t*>(to);
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i)
      bits[i] = std::is_same_v<T, Half> ? cpu::float_to_half(static_cast<float>(wide[i]))
                                        : cpu::float_to_bfloat(static_cast<float>(wide[i]));
  } else {
    auto* elements = static_cast<T*>(to);
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T> && std::is_floating_point_v<W>)
        elements[i] = cpu::saturate<T>(wide[i]);
      else
        elements[i] = static_cast<T>(wide[i]);
    }
  }
}

using Step = void (*)(const void* from, void* to, std::size_t n) noexcept;

struct Conversion {
  Step load = nullptr;  // null: the source is stored as its wide type
  Step store = nullptr;
  std::size_t from_bytes = 0;
  std::size_t to_bytes = 0;

  void run(const CpuArgs& args, SliceRange range, bool streams) const {
    alignas(64) std::byte wide[cpu::block_elements * 8];
    alignas(64) std::byte staged[cpu::block_elements * 8];
    const auto* from = args.in<std::byte>(0);
    auto* to = args.out<std::byte>();
    for (std::size_t i = range.begin; i < range.end; i += cpu::block_elements) {
      const std::size_t n = std::min(cpu::block_elements, range.end - i);
      const void* source = from + i * from_bytes;
      if (load) {
        load(source, wide, n);
        source = wide;
      }
      store(source, streams ? staged : to + i * to_bytes, n);
      if (streams) cpu::stream_copy(to + i * to_bytes, staged, n * to_bytes);
    }
    if (streams) cpu::stream_fence();
  }
};

Conversion conversion(DType from, DType to) {
  Conversion steps{.from_bytes = size_of(from), .to_bytes = size_of(to)};
  visit_dtype(from, [&]<class S>() {
    if constexpr (!std::is_same_v<S, Wide<S>>) steps.load = &load<S>;
    visit_dtype(to, [&]<class D>() { steps.store = &store<Wide<S>, D>; });
  });
  return steps;
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  if (same_bits(call.dtype(), outputs[0].dtype)) return cpu::copy_plan(outputs[0].bytes());
  const std::size_t n = outputs[0].elements();
  const bool streams = outputs[0].bytes() >= cpu::stream_from_bytes;
  const std::uint32_t slices = slice_count(n, std::size_t{32} << 10);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(n) * 0.3;
  plan.stages.push_back(
      {slices, [n, slices, streams, steps = conversion(call.dtype(), outputs[0].dtype)](
                   const CpuArgs& args, std::uint32_t index) {
         steps.run(args, slice_range(n, slices, index), streams);
       }});
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("cast", &plan); }

}  // namespace stoker::kernels::cast::STOKER_ISA
