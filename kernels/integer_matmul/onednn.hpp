// Products of 8-bit integers by oneDNN, cut into rows that our own threads share.
#pragma once

#include <dnnl.h>

#include <optional>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/integer_matmul/problem.hpp"

namespace stoker::kernels::integer_matmul::STOKER_ISA {

/// Whether oneDNN's sums are exact: without VNNI it adds pairs of products in 16 bits, which saturate.
[[nodiscard]] inline bool is_library_exact() noexcept {
  constexpr auto vnni = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_vnni);
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & vnni) == vnni;
}

/// Where it has more than to store them (zero points, s8 on both sides, some convolutions), oneDNN passes sums through
/// f32, which is exact below 2^24: for so many products of u8 and s8.
inline constexpr std::int64_t exact_terms = (std::int64_t{1} << 24) / (std::int64_t{255} * 128);

/// Nothing where oneDNN has no fast way. Precondition: its sums are exact, and the product has elements and terms.
/// Running may throw Error{out_of_memory} or internal.
[[nodiscard]] std::optional<CpuPlan> onednn_plan(const Problem& problem);

}  // namespace stoker::kernels::integer_matmul::STOKER_ISA
