// Integer tensors that say where elements lie: which dtypes, and how shaders read them.
//
// Values beyond the range they speak of are clamped to it on every device, negative ones to 0.
// Pure functions on values; any thread may call them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/shader/gpu_plan.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::indexing {

/// dtype_mismatch unless `indices` holds integers; `role` names the input in the message.
[[nodiscard]] Result<void> check_indices(std::string_view op, std::string_view role,
                                         const TensorSpec& indices);

/// u8, u16, u32 or u64, of the same size: elements that only move are moved as bits.
[[nodiscard]] DType bits_of(DType dtype) noexcept;
/// A shader variant for each of these, named after it, that binds T to it.
[[nodiscard]] std::vector<ShaderVariant> bits_variants();

/// `base` once for each way that indices lie in memory; variant_name() finds it. They bind the
/// letter I to u8, u16 or u32, whose bits they define as INDEX_BITS: 64-bit indices are read as two
/// words, so that no 64-bit integers are needed.
[[nodiscard]] std::vector<ShaderVariant> index_variants(const std::vector<ShaderVariant>& base);
[[nodiscard]] std::string variant_name(std::string_view base, DType indices);

/// The spec constants {"index_words"}, {"index_signed"}.
[[nodiscard]] std::vector<std::uint32_t> index_constants(DType indices);

/// limit_exceeded if a shader cannot count the elements of `indices` in 32 bits.
[[nodiscard]] Result<void> check_countable(std::string_view op, const TensorSpec& indices);

}  // namespace stoker::indexing
