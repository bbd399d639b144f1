#include "stoker/kernels/rules.hpp"

namespace stoker::rules {

std::vector<DType> float_dtypes() { return {DType::f32, DType::f64, DType::f16, DType::bf16}; }

std::vector<DType> numeric_dtypes() {
  std::vector<DType> dtypes = all_dtypes();
  dtypes.pop_back();
  return dtypes;
}

std::vector<DType> all_dtypes() {
  return {DType::f32, DType::f64, DType::f16, DType::bf16, DType::s8,  DType::s16,    DType::s32,
          DType::s64, DType::u8,  DType::u16, DType::u32,  DType::u64, DType::boolean};
}

Result<std::size_t> axis(std::string_view op, std::string_view parameter, std::int64_t axis,
                         std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent)
    return Error{std::string{op},
                 ErrorCode::invalid_parameter,
                 std::string{parameter} + ": axis " + std::to_string(axis) +
                     " is out of range for rank " + std::to_string(rank),
                 {{"parameter", std::string{parameter}},
                  {"axis", std::to_string(axis)},
                  {"rank", std::to_string(rank)}}};
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

Result<void> gpu_indexable(std::string_view op, std::span<const TensorSpec> tensors,
                           std::size_t units) {
  const std::size_t limit = ((std::size_t{1} << 31) - 1) / units;
  for (const TensorSpec& tensor : tensors)
    if (tensor.elements() > limit)
      return Error{std::string{op},
                   ErrorCode::limit_exceeded,
                   "more elements than a GPU kernel can address",
                   {{"tensor", tensor.to_string()}, {"limit", std::to_string(limit)}}};
  return {};
}

std::vector<ShaderVariant> variants_of(std::string_view letter, const std::vector<DType>& dtypes) {
  std::vector<ShaderVariant> variants;
  for (const DType dtype : dtypes)
    variants.push_back(
        {.name = std::string{to_string(dtype)}, .types = {{std::string{letter}, dtype}}});
  return variants;
}

Error dtypes_differ(std::string_view op, const TensorSpec& first, const TensorSpec& second) {
  return Error{std::string{op},
               ErrorCode::dtype_mismatch,
               "dtype mismatch: " + first.to_string() + ", " + second.to_string(),
               {{"expected", std::string{to_string(first.dtype)}},
                {"got", std::string{to_string(second.dtype)}}}};
}

}  // namespace stoker::rules
