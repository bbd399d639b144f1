#include "stoker/kernels/image/units.hpp"

#include <string>

namespace stoker::image {

std::vector<DType> unit_dtypes() { return {DType::u8, DType::u16, DType::u32}; }

Unit widest_unit(std::initializer_list<std::uint64_t> lengths) noexcept {
  std::uint64_t bits = 0;  // the lowest one set is the largest power of two that divides all
  for (const std::uint64_t length : lengths) bits |= length;
  const std::uint64_t bytes = bits % 4 == 0 ? 4 : bits % 2 == 0 ? 2 : 1;
  const DType dtype = bytes == 4 ? DType::u32 : bytes == 2 ? DType::u16 : DType::u8;
  return {dtype, bytes, bits % (4 * bytes) == 0};
}

Result<void> check_units(std::string_view op, const TensorSpec& tensor, const Unit& unit) {
  constexpr std::uint64_t limit = (std::uint64_t{1} << 31) - 1;
  const std::uint64_t units = tensor.bytes() / unit.bytes;
  if (units <= limit) return {};
  return Error{std::string{op},
               ErrorCode::limit_exceeded,
               "more than 2^31 - 1 accesses to " + tensor.to_string() + "; use the cpu device",
               {{"limit", std::to_string(limit)}, {"accesses", std::to_string(units)}}};
}

}  // namespace stoker::image
