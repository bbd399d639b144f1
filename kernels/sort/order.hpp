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
     "elements in order along an axis, stable; NaN above +inf, -0 and 0 equal"},
    {Kind::argsort, Argsort::kind,
     "positions (s32) of the elements in order along an axis, stable; NaN above +inf"},
    {Kind::top_k, TopK::kind,
     "the k largest of the last axis in descending order and their positions (s32); NaN first, of "
     "equals the lower position"},
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
