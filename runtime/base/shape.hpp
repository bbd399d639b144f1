// The extents of a dense row-major array, and the pair (dtype, shape) that describes one.
//
// Value types without heap memory; thread-safe as values are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "stoker/runtime/base/dtype.hpp"
#include "stoker/runtime/base/error.hpp"

namespace stoker {

/// Up to 8 extents, outermost first, each ≥ 0. Rank 0 is a scalar with one element. The product of the
/// extents that are not 0 is at most 2^58, so byte counts and strides never overflow.
class Shape {
 public:
  static constexpr std::size_t max_rank = 8;

  Shape() noexcept = default;
  /// Throws Error{invalid_argument} on a negative extent, more than max_rank of them, or too many
  /// elements.
  Shape(std::initializer_list<std::int64_t> extents);
  /// The same for extents that are computed; `op` names the caller in the error.
  [[nodiscard]] static Shape make(std::span<const std::int64_t> extents,
                                  std::string_view op = "shape");
  /// The same with the failure as a value.
  [[nodiscard]] static Result<Shape> try_make(std::span<const std::int64_t> extents,
                                              std::string_view op = "shape");

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const noexcept { return extents_[axis]; }
  [[nodiscard]] std::span<const std::int64_t> extents() const noexcept {
    return {extents_.data(), rank_};
  }
  [[nodiscard]] const std::int64_t* begin() const noexcept { return extents_.data(); }
  [[nodiscard]] const std::int64_t* end() const noexcept { return extents_.data() + rank_; }
  /// Product of the extents.
  [[nodiscard]] std::int64_t elements() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return elements() == 0; }

  /// Row-major strides in elements.
  [[nodiscard]] std::array<std::int64_t, max_rank> strides() const noexcept;

  /// The same shape with one extent replaced / removed / appended. The first and the last throw as the
  /// constructor does. Precondition: axis < rank().
  [[nodiscard]] Shape with(std::size_t axis, std::int64_t extent) const;
  [[nodiscard]] Shape without(std::size_t axis) const noexcept;
  [[nodiscard]] Shape appended(std::int64_t extent) const;

  /// "[3,4]"; "[]" for a scalar.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept;

 private:
  std::array<std::int64_t, max_rank> extents_{};
  std::uint8_t rank_ = 0;
};

/// The shape that both broadcast to by NumPy's rule (align right, 1 stretches). Nothing if there is
/// none, or if it would have too many elements.
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b) noexcept;

/// Describes the contents of a buffer: `shape.elements()` elements of `dtype`, dense, row-major.
struct TensorSpec {
  DType dtype = DType::f32;
  Shape shape;

  [[nodiscard]] std::size_t elements() const noexcept {
    return static_cast<std::size_t>(shape.elements());
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return elements() * size_of(dtype); }
  /// "f32[3,4]".
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const TensorSpec&, const TensorSpec&) noexcept = default;
};

/// Whether memory of one can be read as the other: they are equal, or one has complex numbers and
/// the other the pairs of their parts, such as c64[3] and f32[3,2].
[[nodiscard]] bool same_memory(const TensorSpec& a, const TensorSpec& b) noexcept;

}  // namespace stoker
