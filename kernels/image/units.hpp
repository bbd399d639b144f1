// Moving pixels whatever they hold: shaders copy units of 1, 2 or 4 bytes, the widest that every
// row and offset is a multiple of.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/dtype.hpp"
#include "stoker/runtime/base/error.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::image {

struct Unit {
  DType dtype;
  std::uint64_t bytes;
  bool quads;  ///< all lengths are multiples of four units, too
};

/// u8, u16 and u32: what a shader that moves units has variants for.
[[nodiscard]] std::vector<DType> unit_dtypes();
/// Precondition: `lengths`, in bytes, are those of whole rows or pixels.
[[nodiscard]] Unit widest_unit(std::initializer_list<std::uint64_t> lengths) noexcept;
/// limit_exceeded if `tensor` holds 2^31 units or more: shaders count them in 32 bits.
[[nodiscard]] Result<void> check_units(std::string_view op, const TensorSpec& tensor,
                                       const Unit& unit);

}  // namespace stoker::image
