// The formulas of the colour spaces, on planes of a block of pixels, for the CPU version. Three numbers of
// a pixel lie in planes 0, 1 and 2 and are replaced; all are 0–1 where colours are.
//
// H is a share of the full circle from red over yellow and green; of grey it is 0, as is S of black.
// With the largest and the least of R, G and B as max and min, and d = max − min:
//     H = ((G − B) / d, 2 + (B − R) / d or 4 + (R − G) / d) / 6, by which of R, G and B is max
//     HSV: V = max, S = d / max          HSL: L = (max + min) / 2, S = d / (1 − |2 L − 1|)
// Back without cases, with k in [0, 6): each colour is V − V S max(0, min(k, 4 − k, 1)), k = n + 6 H for
// n = 5, 3, 1; or L − S min(L, 1 − L) max(−1, min(k − 3, 9 − k, 1)), k in [0, 12), n + 12 H, n = 0, 8, 4.
#pragma once

#include <cmath>
#include <cstddef>

#include "stoker/kernels/convert_color/options.hpp"

namespace stoker::kernels::convert_color::STOKER_ISA {

/// Pixels of a block; its planes stay in the first-level cache.
inline constexpr std::size_t block = 512;

struct Planes {
  alignas(64) float at[3][block];
};

/// Cb and Cr of grey: 128 in u8, and 1/2 in floats.
struct Neutral {
  float value;
};

[[gnu::always_inline]] inline float least(float a, float b) noexcept { return a < b ? a : b; }
[[gnu::always_inline]] inline float most(float a, float b) noexcept { return a > b ? a : b; }
/// `k` in [0, turn).
[[gnu::always_inline]] inline float wrapped(float k, float turn) noexcept {
  return k - turn * __builtin_floorf(k * (1.0F / turn));
}

/// Calls replace(a, b, c) for the three numbers of every pixel.
template <class Replace>
[[gnu::always_inline]] inline void over_pixels(Planes& planes, std::size_t n,
                                               const Replace& replace) noexcept {
  float* const first = planes.at[0];
  float* const second = planes.at[1];
  float* const third = planes.at[2];
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) replace(first[i], second[i], third[i]);
}

/// The hue of a colour whose largest and least numbers are d apart.
[[gnu::always_inline]] inline float hue(float r, float g, float b, float max, float d) noexcept {
  const float from_red = g - b;
  const float from_green = b - r;
  const float from_blue = r - g;
  const float distance = max == r ? from_red : max == g ? from_green : from_blue;
  const float start = max == r ? (from_red < 0.0F ? 6.0F : 0.0F) : max == g ? 2.0F : 4.0F;
  const float divisor = d > 0.0F ? d : 1.0F;
  return (start + distance / divisor) * (1.0F / 6.0F);
}

inline void swap_ends(Planes& planes, std::size_t n, Neutral) noexcept {
  over_pixels(planes, n, [](float& a, float&, float& c) {
    const float first = a;
    a = c;
    c = first;
  });
}

inline void hsv_of_rgb(Planes& planes, std::size_t n, Neutral) noexcept {
  over_pixels(planes, n, [](float& a, float& b, float& c) {
    const float max = most(most(a, b), c);
    const float d = max - least(least(a, b), c);
    a = hue(a, b, c, max, d);
    b = d / (max != 0.0F ? max : 1.0F);
    c = max;
  });
}

inline void hsl_of_rgb(Planes& planes, std::size_t n, Neutral) noexcept {
  over_pixels(planes, n, [](float& a, float& b, float& c) {
    const float max = most(most(a, b), c);
    const float min = least(least(a, b), c);
    const float d = max - min;
    const float sum = max + min;
    // 1 − |2 L − 1|. Where that is 0, so is d: of white and black.
    const float range = least(sum, 2.0F - sum);
    a = hue(a, b, c, max, d);
    b = d / (range != 0.0F ? range : 1.0F);
    c = 0.5F * sum;
  });
}

inline void rgb_of_hsv(Planes& planes, std::size_t n, Neutral) noexcept {
  over_pixels(planes, n, [](float& a, float& b, float& c) {
    const float h = 6.0F * a;
    const float reach = c * b;
    const float value = c;
    const auto colour = [&](float start) {
      const float k = wrapped(start + h, 6.0F);
      return value - reach * most(0.0F, least(least(k, 4.0F - k), 1.0F));
    };
    a = colour(5.0F);
    b = colour(3.0F);
    c = colour(1.0F);
  });
}

inline void rgb_of_hsl(Planes& planes, std::size_t n, Neutral) noexcept {
  over_pixels(planes, n, [](float& a, float& b, float& c) {
    const float h = 12.0F * a;
    const float reach = b * least(c, 1.0F - c);
    const float light = c;
    const auto colour = [&](float start) {
      const float k = wrapped(start + h, 12.0F);
      return light - reach * most(-1.0F, least(least(k - 3.0F, 9.0F - k), 1.0F));
    };
    a = colour(0.0F);
    b = colour(8.0F);
    c = colour(4.0F);
  });
}

inline void ycbcr_of_rgb(Planes& planes, std::size_t n, Neutral neutral) noexcept {
  const float zero = neutral.value;
  over_pixels(planes, n, [zero](float& a, float& b, float& c) {
    const float y = 0.299F * a + 0.587F * b + 0.114F * c;
    const float cb = zero + (c - y) * (1.0F / 1.772F);
    const float cr = zero + (a - y) * (1.0F / 1.402F);
    a = y;
    b = cb;
    c = cr;
  });
}

inline void rgb_of_ycbcr(Planes& planes, std::size_t n, Neutral neutral) noexcept {
  const float zero = neutral.value;
  over_pixels(planes, n, [zero](float& a, float& b, float& c) {
    const float y = a;
    const float cb = b - zero;
    const float cr = c - zero;
    a = y + 1.402F * cr;
    b = y - (0.114F * 1.772F / 0.587F) * cb - (0.299F * 1.402F / 0.587F) * cr;
    c = y + 1.772F * cb;
  });
}

using Step = void (*)(Planes&, std::size_t, Neutral) noexcept;

/// What makes RGB of a space, and a space of RGB; null: nothing is to be done.
[[nodiscard]] inline Step step_to_rgb(ColorSpace from) noexcept {
  switch (from) {
    case ColorSpace::bgr: return swap_ends;
    case ColorSpace::hsv: return rgb_of_hsv;
    case ColorSpace::hsl: return rgb_of_hsl;
    case ColorSpace::ycbcr: return rgb_of_ycbcr;
    case ColorSpace::rgb: break;
  }
  return nullptr;
}
[[nodiscard]] inline Step step_from_rgb(ColorSpace to) noexcept {
  switch (to) {
    case ColorSpace::bgr: return swap_ends;
    case ColorSpace::hsv: return hsv_of_rgb;
    case ColorSpace::hsl: return hsl_of_rgb;
    case ColorSpace::ycbcr: return ycbcr_of_rgb;
    case ColorSpace::rgb: break;
  }
  return nullptr;
}

}  // namespace stoker::kernels::convert_color::STOKER_ISA
