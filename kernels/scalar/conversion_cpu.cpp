#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "stoker/kernels/cpu/saturate.hpp"
#include "stoker/kernels/scalar/loops.hpp"

namespace stoker::kernels::scalar::STOKER_ISA {
namespace {

template <class To> struct Cast {
  template <class C> static Element<To> apply(C x) noexcept {
    if constexpr (std::is_same_v<To, bool>)
      return x != C{0} ? 1 : 0;
    else if constexpr (std::is_floating_point_v<C> && std::is_integral_v<To>)
      return cpu::saturate<To>(x);
    else
      return static_cast<Element<To>>(x);
  }
};

template <class To, class... From> constexpr LoopSet casts(Types<From...>) {
  LoopSet set{"cast"};
  ((set.by_operand[index_of<From>] = &loop<Cast<To>, 1, Element<From>, Element<To>>), ...);
  return set;
}

template <class... To> constexpr std::array<LoopSet, dtype_count> all_casts(Types<To...>) {
  std::array<LoopSet, dtype_count> sets{};
  ((sets[index_of<To>] = casts<To>(Everything{})), ...);
  return sets;
}

constexpr std::array<LoopSet, dtype_count> cast_sets = all_casts(Everything{});

template <std::size_t Bytes>
void copy(const void* const* operands, void* result, std::size_t n) noexcept {
  if (operands[0] != result) std::memcpy(result, operands[0], n * Bytes);
}

template <class... T> constexpr LoopSet copies(Types<T...>) {
  LoopSet set{"copy"};
  ((set.by_operand[index_of<T>] = &copy<sizeof(Element<T>)>), ...);
  return set;
}

constexpr LoopSet sets[] = {copies(Everything{})};

void round_half(const void* const* operands, void* result, std::size_t n) noexcept {
  const auto* x = static_cast<const float*>(operands[0]);
  auto* out = static_cast<float*>(result);
  std::size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(x + i),
                                                              _MM_FROUND_TO_NEAREST_INT)));
#endif
#pragma GCC ivdep
  for (; i < n; ++i) out[i] = cpu::half_to_float(cpu::float_to_half(x[i]));
}

void round_bfloat(const void* const* operands, void* result, std::size_t n) noexcept {
  const auto* x = static_cast<const float*>(operands[0]);
  auto* out = static_cast<float*>(result);
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i)
    out[i] = std::bit_cast<float>(std::uint32_t{cpu::float_to_bfloat(x[i])} << 16);
}

}  // namespace

std::span<const LoopSet> conversion_loops() noexcept { return sets; }

const LoopSet& cast_loops(DType to) noexcept { return cast_sets[static_cast<std::size_t>(to)]; }

ScalarLoop rounding_loop(DType dtype) noexcept {
  return dtype == DType::f16 ? &round_half : dtype == DType::bf16 ? &round_bfloat : nullptr;
}

}  // namespace stoker::kernels::scalar::STOKER_ISA
