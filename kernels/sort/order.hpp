// What one call of this family asks for.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/kernels/rows/axis_rows.hpp"
#include "stoker/kernels/sort/options.hpp"

namespace stoker::kernels::sort {

enum class Kind : std::uint8_t { sort, argsort, top_k };

struct KindName {
  Kind kind;
  std::string_view kernel;
  std::string_view summary;
};

inline constexpr KindName kinds[] = {
    {Kind::sort, Sort::kind,
     "the elements sorted along an axis; equal elements keep their order; NaN counts as above "
     "+inf, and -0 equals 0"},
    {Kind::argsort, Argsort::kind,
     "the positions (s32) that sort the elements along an axis; equal elements keep their order; "
     "NaN counts as above +inf"},
    {Kind::top_k, TopK::kind,
     "the k largest elements along the last axis, descending, and their positions (s32); NaN comes "
     "first; of equal elements the one with the lower position comes first"},
};

struct Order {
  rows::AxisRows rows;
  std::int64_t keep = 0;  ///< elements of each row that are wanted: its length, or k
  bool descending = false;
  bool values = false;   ///< output 0 takes the elements
  bool indices = false;  ///< the last output takes their positions
};

/// invalid_parameter on an axis out of range or k > the axis, limit_exceeded where positions do not
/// fit s32.
[[nodiscard]] Result<Order> order_of(Kind kind, const KernelCall& call);

}  // namespace stoker::kernels::sort
