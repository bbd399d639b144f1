// Names of a tensor's axes: "rows", "columns". An axis may have none.
//
//     Tensor x = tensor({{1, 2}, {3, 4}}).named({"rows", "columns"});
//     Tensor y = sum(x, {x.axes({"rows"})});             // names: columns
//
// Names follow their axes through operations. Where two operands are combined, paired axes must
// have equal names, or one of them none; else invalid_argument is thrown. Operations that make new
// axes (reshape, windows of gather and take, factorizations) leave them unnamed. The rules are
// Nx's.
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
  /// No axis has a name.
  AxisNames() = default;
  /// One name for each axis, "" for none. Throws invalid_argument if a name is given twice.
  explicit AxisNames(std::vector<std::string> names);

  [[nodiscard]] bool none() const noexcept { return list_ == nullptr; }
  /// "" if the axis has none.
  [[nodiscard]] const std::string& operator[](std::size_t axis) const noexcept;

  /// The names of selected axes: axis i is axis `axes[i]` of these, or a new unnamed axis if that
  /// is negative.
  [[nodiscard]] AxisNames chosen(std::span<const std::int64_t> axes) const;
  /// The names without `axes`, out of `rank` axes.
  [[nodiscard]] AxisNames without(std::span<const std::int64_t> axes, std::size_t rank) const;
  /// Merges the names of two operands, aligned right for broadcasting. Throws invalid_argument,
  /// with `op` as the operation, where they differ.
  [[nodiscard]] static AxisNames merged(std::string_view op, const AxisNames& a, std::size_t a_rank,
                                        const AxisNames& b, std::size_t b_rank);

  friend bool operator==(const AxisNames& a, const AxisNames& b) noexcept;

 private:
  std::shared_ptr<const std::vector<std::string>> list_;  // null: none
};

}  // namespace stoker
