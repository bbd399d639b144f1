// Names of a tensor's axes: "rows", "columns". An axis may have none.
//
//     Tensor x = tensor({{1, 2}, {3, 4}}).named({"rows", "columns"});
//     Tensor y = sum(x, {x.axes({"rows"})});             // names: columns
//
// Names follow their axes through operations; where two operands meet, each pair of axes has one name or
// one of them has none, else invalid_argument is thrown. What makes axes of other axes (reshape, windows
// of gather and take, factorizations) gives unnamed ones. The rules are Nx's.
//
// Values, cheap to copy; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

class AxisNames {
 public:
  /// No axis has one.
  AxisNames() = default;
  /// One for each axis, "" for none. Throws invalid_argument if one is given twice.
  explicit AxisNames(std::vector<std::string> names);

  [[nodiscard]] bool none() const noexcept { return list_ == nullptr; }
  /// "" if the axis has none.
  [[nodiscard]] const std::string& operator[](std::size_t axis) const noexcept;

  /// Those of other axes: axis i is axis `axes[i]` of these, or a new one without a name if that is below 0.
  [[nodiscard]] AxisNames chosen(std::span<const std::int64_t> axes) const;
  /// Without some axes, of `rank` in all.
  [[nodiscard]] AxisNames without(std::span<const std::int64_t> axes, std::size_t rank) const;
  /// Of two operands that broadcast to `rank` axes, aligned right; `op` names the operation in the error.
  [[nodiscard]] static AxisNames merged(std::string_view op, const AxisNames& a, std::size_t a_rank,
                                        const AxisNames& b, std::size_t b_rank);

  friend bool operator==(const AxisNames& a, const AxisNames& b) noexcept;

 private:
  std::shared_ptr<const std::vector<std::string>> list_;  // null: none
};

}  // namespace stoker
