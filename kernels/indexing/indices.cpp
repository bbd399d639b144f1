#include "stoker/kernels/indexing/indices.hpp"

#include "stoker/kernels/rules.hpp"

namespace stoker::indexing {
namespace {

DType bound_as(DType indices) { return size_of(indices) == 8 ? DType::u32 : bits_of(indices); }

}  // namespace

DType bits_of(DType dtype) noexcept {
  switch (size_of(dtype)) {
    case 1: return DType::u8;
    case 2: return DType::u16;
    case 4: return DType::u32;
    default: return DType::u64;
  }
}

std::vector<ShaderVariant> bits_variants() {
  return rules::variants_of("T", {DType::u8, DType::u16, DType::u32, DType::u64});
}

Result<void> check_indices(std::string_view op, std::string_view role, const TensorSpec& indices) {
  if (is_integer(indices.dtype)) return {};
  return Error{std::string{op},
               ErrorCode::dtype_mismatch,
               std::string{role} + " is " + indices.to_string() + ", expected integers",
               {{"expected", "an integer dtype"}, {"got", std::string{to_string(indices.dtype)}}}};
}

std::vector<ShaderVariant> index_variants(const std::vector<ShaderVariant>& base) {
  std::vector<ShaderVariant> variants;
  for (const ShaderVariant& one : base)
    for (const DType index : {DType::u8, DType::u16, DType::u32}) {
      ShaderVariant& variant = variants.emplace_back(one);
      variant.name = variant_name(one.name, index);
      variant.types.emplace_back("I", index);
      variant.defines.emplace_back("INDEX_BITS", std::to_string(8 * size_of(index)));
    }
  return variants;
}

std::string variant_name(std::string_view base, DType indices) {
  return std::string{base} + "_" + std::string{to_string(bound_as(indices))};
}

std::vector<std::uint32_t> index_constants(DType indices) {
  return {size_of(indices) == 8 ? 2U : 1U, is_signed(indices) ? 1U : 0U};
}

Result<void> check_countable(std::string_view op, const TensorSpec& indices) {
  return rules::gpu_indexable(op, {&indices, 1}, size_of(indices.dtype) == 8 ? 2 : 1);
}

}  // namespace stoker::indexing
