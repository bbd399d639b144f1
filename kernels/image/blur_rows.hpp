// The separable Gaussian blur of a band of rows, for the CPU versions of gaussian_blur and sharpen.
//
// Each output row is blurred downwards first, straight from the 2·radius + 1 source rows, into one
// padded line that stays in the first-level cache, and then across from that line. So a band needs
// no intermediate image, no halo is computed twice, and bands are independent.
//
// The line holds floats, or for u8 images and small radii 16-bit fixed point with 7 fraction bits:
// two to four times as many values in a register. There each product is truncated; half of the
// expected loss is added back, which leaves at most (radius + 1) / 256 of error a pass, and a uniform
// image comes out unchanged because the fixed weights sum to exactly 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/bands.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/gaussian.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/image/rows.hpp"

namespace stoker::image::STOKER_ISA {

/// The largest radius whose fixed-point error stays well below half a grey level.
inline constexpr std::size_t max_fixed_radius = 32;

/// What all bands share; immutable.
struct BlurRows {
  Extent extent;
  Border border = Border::replicate;
  std::size_t radius = 0;
  std::vector<float> weights;        ///< by distance
  std::vector<std::uint16_t> fixed;  ///< the same in 1/65536

  BlurRows(const Shape& shape, const Blur& blur)
      : extent{image::extent(shape)}, border{blur.border} {
    const Gaussian gaussian = Gaussian::of(blur);
    radius = static_cast<std::size_t>(gaussian.radius);
    std::uint32_t rest = 65536;
    for (const double weight : gaussian.weights()) {
      weights.push_back(static_cast<float>(weight));
      fixed.push_back(static_cast<std::uint16_t>(std::min(std::lround(weight * 65536.0), 65535L)));
      if (fixed.size() > 1) rest -= 2U * fixed.back();
    }
    fixed[0] = static_cast<std::uint16_t>(std::min(rest, 65535U));
  }

  [[nodiscard]] std::size_t row() const noexcept { return static_cast<std::size_t>(extent.row()); }
  [[nodiscard]] std::size_t padding() const noexcept {
    return radius * static_cast<std::size_t>(extent.channels);
  }
};

/// Scratch of one band: the pointers to the source rows, a row of zeros, and the padded line.
template <class T, class Line> struct BlurScratch {
  std::size_t zeros_at;
  std::size_t line_at;
  std::size_t bytes;

  explicit BlurScratch(const BlurRows& blur) noexcept {
    zeros_at = aligned((2 * blur.radius + 1) * sizeof(const T*));
    line_at = zeros_at + aligned(blur.row() * sizeof(T));
    // Vectors read from the line in whole, so it ends one vector later than its last element.
    bytes = line_at + aligned((blur.row() + 2 * blur.padding()) * sizeof(Line) + vector_bytes);
  }
};

/// line[i] = Σ weight[k] · (rows at distance k)[i]. `rows` holds the centre row and then, for each
/// distance, the row above and the row below.
template <class T> inline void blur_down(const BlurRows& blur, const T* const* rows, float* line) {
  const float* const weights = blur.weights.data();
  over_row<lanes, 4>(blur.row(), [&](auto blocks, std::size_t i, auto part) {
    Floats sum[blocks()];
    for (std::size_t b = 0; b < blocks(); ++b)
      sum[b] = weights[0] * load(rows[0] + i + b * lanes, part);
    for (std::size_t k = 1; k <= blur.radius; ++k) {
      const T* const above = rows[2 * k - 1] + i;
      const T* const below = rows[2 * k] + i;
      for (std::size_t b = 0; b < blocks(); ++b)
        sum[b] += weights[k] * (load(above + b * lanes, part) + load(below + b * lanes, part));
    }
    for (std::size_t b = 0; b < blocks(); ++b) store(line + i + b * lanes, sum[b], part);
  });
}

inline void blur_down(const BlurRows& blur, const std::uint8_t* const* rows, std::uint16_t* line) {
  const std::uint16_t* const weights = blur.fixed.data();
  const Words start = static_cast<std::uint16_t>((blur.radius + 1) / 2) + Words{};
  over_row<word_lanes, 4>(blur.row(), [&](auto blocks, std::size_t i, auto part) {
    Words sum[blocks()];
    const Words centre = weights[0] + Words{};
    for (std::size_t b = 0; b < blocks(); ++b)
      sum[b] = start + multiply_high(load_words(rows[0] + i + b * word_lanes, part) << 7, centre);
    for (std::size_t k = 1; k <= blur.radius; ++k) {
      const Words weight = weights[k] + Words{};
      const std::uint8_t* const above = rows[2 * k - 1] + i;
      const std::uint8_t* const below = rows[2 * k] + i;
      for (std::size_t b = 0; b < blocks(); ++b) {
        const Words pair =
            load_words(above + b * word_lanes, part) + load_words(below + b * word_lanes, part);
        sum[b] += multiply_high(pair << 7, weight);
      }
    }
    for (std::size_t b = 0; b < blocks(); ++b) store_raw(line + i + b * word_lanes, sum[b], part);
  });
}

/// Calls finish(i, blurred vector, part) for the line blurred along the row; `line` is its first
/// element behind the padding.
template <class Finish>
inline void blur_across(const BlurRows& blur, const float* line, const Finish& finish) {
  const float* const weights = blur.weights.data();
  const auto channels = static_cast<std::size_t>(blur.extent.channels);
  over_row<lanes, 4>(blur.row(), [&](auto blocks, std::size_t i, auto part) {
    Floats sum[blocks()];
    for (std::size_t b = 0; b < blocks(); ++b)
      sum[b] = weights[0] * load(line + i + b * lanes, Full{});
    for (std::size_t k = 1; k <= blur.radius; ++k) {
      const float* const left = line + i - k * channels;
      const float* const right = line + i + k * channels;
      for (std::size_t b = 0; b < blocks(); ++b)
        sum[b] += weights[k] * (load(left + b * lanes, Full{}) + load(right + b * lanes, Full{}));
    }
    for (std::size_t b = 0; b < blocks(); ++b) finish(i + b * lanes, sum[b], part);
  });
}

template <class Finish>
inline void blur_across(const BlurRows& blur, const std::uint16_t* line, const Finish& finish) {
  const std::uint16_t* const weights = blur.fixed.data();
  const auto channels = static_cast<std::size_t>(blur.extent.channels);
  const auto at = [](const std::uint16_t* from) { return load_raw<Words>(from, Full{}); };
  const Words start = static_cast<std::uint16_t>((blur.radius + 1) / 2) + Words{};
  over_row<word_lanes, 4>(blur.row(), [&](auto blocks, std::size_t i, auto part) {
    Words sum[blocks()];
    const Words centre = weights[0] + Words{};
    for (std::size_t b = 0; b < blocks(); ++b)
      sum[b] = start + multiply_high(at(line + i + b * word_lanes), centre);
    for (std::size_t k = 1; k <= blur.radius; ++k) {
      const Words weight = weights[k] + Words{};
      const std::uint16_t* const left = line + i - k * channels;
      const std::uint16_t* const right = line + i + k * channels;
      for (std::size_t b = 0; b < blocks(); ++b)
        sum[b] += multiply_high(at(left + b * word_lanes) + at(right + b * word_lanes), weight);
    }
    for (std::size_t b = 0; b < blocks(); ++b) finish(i + b * word_lanes, sum[b], part);
  });
}

/// Blurs the rows [begin, end) of `source`; finish(y, i, blurred vector, part) takes the results,
/// floats or 1/128 words, of row y from element i on.
template <class T, class Line, class Finish>
inline void blur_band(const BlurRows& blur, const T* source, std::byte* scratch, std::size_t begin,
                      std::size_t end, const Finish& finish) {
  const BlurScratch<T, Line> layout{blur};
  auto** const rows = reinterpret_cast<const T**>(scratch);
  T* const zeros = reinterpret_cast<T*>(scratch + layout.zeros_at);
  Line* const line = reinterpret_cast<Line*>(scratch + layout.line_at) + blur.padding();
  if (blur.border == Border::constant) std::fill_n(zeros, blur.row(), T{});

  const auto row_at = [&](std::int64_t y) {
    return source_row(source, blur.extent, blur.border, y, zeros);
  };
  for (std::size_t y = begin; y < end; ++y) {
    const auto centre = static_cast<std::int64_t>(y);
    rows[0] = row_at(centre);
    for (std::size_t k = 1; k <= blur.radius; ++k) {
      rows[2 * k - 1] = row_at(centre - static_cast<std::int64_t>(k));
      rows[2 * k] = row_at(centre + static_cast<std::int64_t>(k));
    }
    blur_down(blur, rows, line);
    pad_line(line, blur.extent, blur.border, static_cast<std::int64_t>(blur.radius));
    blur_across(blur, line,
                [&](std::size_t i, auto blurred, auto part) { finish(y, i, blurred, part); });
  }
}

/// The plan of a kernel that blurs T with lines of Line: `band(args, blur, scratch, begin, end)`
/// computes a band of output rows.
template <class T, class Line, class Band>
[[nodiscard]] inline CpuPlan blur_plan(const Shape& shape, const Blur& of, Band band) {
  const auto blur = std::make_shared<const BlurRows>(shape, of);
  const std::size_t products =
      static_cast<std::size_t>(blur->extent.height) * blur->row() * 2 * (blur->radius + 1);
  return band_plan({.height = blur->extent.height,
                    .work = products,
                    .grain = std::size_t{1} << 18,
                    .scratch = BlurScratch<T, Line>{*blur}.bytes,
                    .cost_ns = static_cast<double>(products) * (sizeof(Line) == 2 ? 0.08 : 0.16)},
                   [blur, band](const CpuArgs& args, std::byte* scratch, SliceRange rows) {
                     band(args, *blur, scratch, rows.begin, rows.end);
                   });
}

/// What plan.operator()<T, Line>() gives for the type T of the dtype and the line that suits it and the radius.
template <class Plan>
[[nodiscard]] Result<CpuPlan> by_line(DType dtype, std::int64_t radius, const Plan& plan) {
  return by_dtype(dtype, [&]<class T>() -> Result<CpuPlan> {
    if constexpr (std::is_same_v<T, std::uint8_t>)
      if (radius <= static_cast<std::int64_t>(max_fixed_radius))
        return plan.template operator()<T, std::uint16_t>();
    return plan.template operator()<T, float>();
  });
}

}  // namespace stoker::image::STOKER_ISA
