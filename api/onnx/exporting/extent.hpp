// Extents of a graph whose batch is open: each is a number, or grows with the batch.
//
// A graph is traced with two sizes of the batch; what differs between the traces follows from the two.
//
// Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stoker/runtime/base/shape.hpp"

namespace stoker::onnx {

/// The sizes of the batch in the two traces; equal: the batch is fixed.
struct BatchSizes {
  std::int64_t first = 1;
  std::int64_t second = 1;
};

/// number + per_batch · batch.
struct Extent {
  std::int64_t number = 0;
  std::int64_t per_batch = 0;

  [[nodiscard]] bool is_fixed() const noexcept { return per_batch == 0; }
  friend bool operator==(const Extent&, const Extent&) noexcept = default;
};
using ExtentList = std::vector<Extent>;

/// Nothing unless the number is in proportion to the batch, but for a constant.
[[nodiscard]] std::optional<Extent> extent_of(std::int64_t first, std::int64_t second,
                                              const BatchSizes& sizes) noexcept;
/// The same for lists of one length.
[[nodiscard]] std::optional<ExtentList> extents_of(std::span<const std::int64_t> first,
                                                   std::span<const std::int64_t> second,
                                                   const BatchSizes& sizes);
/// What elements of both shapes broadcast to, by NumPy's rule. Precondition: they do in both traces.
[[nodiscard]] ExtentList broadcast(const ExtentList& a, const ExtentList& b);

}  // namespace stoker::onnx
