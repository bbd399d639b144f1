// Extents of a graph whose batch is open: each is a number, or grows with the batch.
//
// A graph is traced with three sizes of the batch. Two of them determine how an extent grows; the third
// must agree.
//
// Values and pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stoker/runtime/base/shape.hpp"

namespace stoker::onnx {

/// One number for each trace.
template <class T> using Traced = std::array<T, 3>;
/// The sizes of the batch in the traces; equal: the batch is fixed.
using BatchSizes = Traced<std::int64_t>;

/// number + per_batch · batch.
struct Extent {
  std::int64_t number = 0;
  std::int64_t per_batch = 0;

  [[nodiscard]] bool is_fixed() const noexcept { return per_batch == 0; }
  friend bool operator==(const Extent&, const Extent&) noexcept = default;
};
using ExtentList = std::vector<Extent>;

/// Nothing unless the number is a constant plus a multiple of the batch.
[[nodiscard]] std::optional<Extent> extent_of(const Traced<std::int64_t>& values,
                                              const BatchSizes& sizes) noexcept;
/// The same for lists of equal length.
[[nodiscard]] std::optional<ExtentList> extents_of(
    const Traced<std::span<const std::int64_t>>& values, const BatchSizes& sizes);
/// The shape to which both broadcast, by NumPy's rule. Precondition: they broadcast in all traces.
[[nodiscard]] ExtentList broadcast(const ExtentList& a, const ExtentList& b);

}  // namespace stoker::onnx
