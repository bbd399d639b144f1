// Which bin of a histogram a value belongs to. The rule is one of f32
// operations, so that every device counts alike: value x in [low, high] is in
// bin ⌊(x − low) scale⌋, and what that is past the last bin is in the last one.
#pragma once

#include <cstdint>

#include "stoker/kernels/histogram/options.hpp"
#include "stoker/runtime/base/dtype.hpp"

namespace stoker::kernels::histogram {

/// The bounds are values as stored, 0–255 in u8.
struct Bins {
  std::int64_t count = 0;
  float low = 0;
  float high = 0;
  float scale = 0;

  [[nodiscard]] static Bins of(const Histogram& given, DType dtype) noexcept {
    const double white = dtype == DType::u8 ? 255.0 : 1.0;
    const double low = white * given.low;
    const double high = white * given.high;
    return {given.bins, static_cast<float>(low), static_cast<float>(high),
            static_cast<float>(static_cast<double>(given.bins) / (high - low))};
  }

  /// The bin of a value, or `count` if it is outside or NaN.
  [[nodiscard]] std::int32_t of(float x) const noexcept {
    const bool inside = x >= low && x <= high;
    const auto bin = static_cast<std::int32_t>(((inside ? x : low) - low) * scale);
    const auto last = static_cast<std::int32_t>(count - 1);
    return inside ? (bin < last ? bin : last) : last + 1;
  }
};

}  // namespace stoker::kernels::histogram
