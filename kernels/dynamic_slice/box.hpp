// A box within a tensor whose place is known only when the kernel runs.
//
// Values; any thread may use them.
#pragma once

#include <vector>

#include "stoker/kernels/call.hpp"
#include "stoker/kernels/dynamic_slice/options.hpp"

namespace stoker::kernels::dynamic_slice {

/// One axis of the box, or several that move as one.
struct BoxAxis {
  std::size_t start = 0;    ///< the entry of `starts` that moves it
  std::int64_t extent = 1;  ///< of the tensor
  std::int64_t length = 1;  ///< of the tensor's entries that the box spans
  std::int64_t scale = 1;   ///< of these, what a start of 1 skips
  std::int64_t step = 1;    ///< every how many of the spanned entries counts

  [[nodiscard]] std::int64_t count() const noexcept { return (length + step - 1) / step; }
};

/// The box's axes, outermost first, at least one: without those of extent 1, and with every axis
/// that the box spans entirely joined to the one outside it.
[[nodiscard]] std::vector<BoxAxis> box_axes(const Shape& tensor,
                                            std::span<const std::int64_t> lengths,
                                            std::span<const std::int64_t> steps);

/// The strides of a dynamic_slice of a tensor of that rank; if none were given, 1 for each axis.
[[nodiscard]] std::vector<std::int64_t> steps_of(const DynamicSlice& given, std::size_t rank);

/// dtype_mismatch unless `starts` holds integers, shape_mismatch unless one for each axis.
[[nodiscard]] Result<void> check_starts(std::string_view op, const Shape& tensor,
                                        const TensorSpec& starts);

}  // namespace stoker::kernels::dynamic_slice
