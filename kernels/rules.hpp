// Rules that the definitions of many kernels share: dtype lists, axis arguments, GPU limits.
//
// Pure functions on values; any thread may call them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/kernels/shader/gpu_plan.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::rules {

/// f32, f64, f16, bf16.
[[nodiscard]] std::vector<DType> float_dtypes();
/// Every dtype but bool.
[[nodiscard]] std::vector<DType> numeric_dtypes();
[[nodiscard]] std::vector<DType> all_dtypes();

/// `axis` in [-rank, rank) as an axis in [0, rank); invalid_parameter names the parameter.
[[nodiscard]] Result<std::size_t> axis(std::string_view op, std::string_view parameter,
                                       std::int64_t axis, std::size_t rank);

/// GPU kernels index with 32 bits: limit_exceeded from 2^31 elements on. A shader that sees each
/// element as `units` smaller ones can take that many times fewer.
[[nodiscard]] Result<void> gpu_indexable(std::string_view op, std::span<const TensorSpec> tensors,
                                         std::size_t units = 1);

/// A shader variant for each dtype, named after it, that binds `letter` to it.
[[nodiscard]] std::vector<ShaderVariant> variants_of(std::string_view letter,
                                                     const std::vector<DType>& dtypes);

/// dtype_mismatch between input 0 and input `other`.
[[nodiscard]] Error dtypes_differ(std::string_view op, const TensorSpec& first,
                                  const TensorSpec& second);

}  // namespace stoker::rules
