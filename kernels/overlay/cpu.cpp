#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/bands.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/overlay/options.hpp"

namespace stoker::kernels::overlay::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;

template <class T> inline constexpr float white = std::is_same_v<T, std::uint8_t> ? 255.0F : 1.0F;

/// Every fourth lane in the place of itself and the three before it: each pixel's alpha.
template <std::size_t... I>
[[gnu::always_inline]] inline Floats fourths(Floats values, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(values, values, static_cast<int>(I | 3U)...);
}
[[gnu::always_inline]] inline Floats fourths(Floats values) noexcept {
  return fourths(values, std::make_index_sequence<lanes>{});
}

// Each blends `pixels` pixels of one row: with the alphas a and b of the two pictures, over has
// alpha r = a + b (1 - a) and colours base + (over - base) a / r.

/// Neither picture has alpha: every element alike.
template <class T>
void blend_opaque(const T* base, const T* over, T* to, std::size_t elements,
                  float opacity) noexcept {
  over_row<lanes, 2>(elements, [&](auto blocks, std::size_t start, auto part) {
    for (std::size_t i = start; i < start + blocks() * lanes; i += lanes) {
      const Floats own = load(base + i, part);
      store(to + i, own + (load(over + i, part) - own) * opacity, part);
    }
  });
}

/// Both have alpha: a vector holds whole pixels.
template <class T>
void blend_alpha_on_alpha(const T* base, const T* over, T* to, std::size_t pixels,
                          float opacity) noexcept {
  Ints is_alpha;
  for (std::size_t i = 0; i < lanes; ++i) is_alpha[i] = i % 4 == 3 ? -1 : 0;
  over_row<lanes, 1>(4 * pixels, [&](auto, std::size_t i, auto part) {
    const Floats own = load(base + i, part);
    const Floats other = load(over + i, part);
    const Floats a = fourths(other) * (opacity / white<T>);
    const Floats b = fourths(own) * (1.0F / white<T>);
    const Floats r = a + b * (1.0F - a);
    const Floats share = r > 0.0F ? a / r : Floats{};
    const Floats colour = own + (other - own) * share;
    store(to + i, is_alpha ? r * white<T> : colour, part);
  });
}

/// One of them has alpha, in pixels of 3 and 4 elements.
template <class T>
void blend_alpha_on_opaque(const T* base, const T* over, T* to, std::size_t pixels,
                           float opacity) noexcept {
#pragma GCC ivdep
  for (std::size_t p = 0; p < pixels; ++p) {
    const float share = load_one(over[4 * p + 3]) * (opacity / white<T>);
    for (std::size_t c = 0; c < 3; ++c) {
      const float own = load_one(base[3 * p + c]);
      store_one(to[3 * p + c], own + (load_one(over[4 * p + c]) - own) * share);
    }
  }
}

template <class T>
void blend_opaque_on_alpha(const T* base, const T* over, T* to, std::size_t pixels,
                           float opacity) noexcept {
#pragma GCC ivdep
  for (std::size_t p = 0; p < pixels; ++p) {
    const float b = load_one(base[4 * p + 3]) * (1.0F / white<T>);
    const float r = opacity + b * (1.0F - opacity);
    const float share = r > 0.0F ? opacity / r : 0.0F;
    for (std::size_t c = 0; c < 3; ++c) {
      const float own = load_one(base[4 * p + c]);
      store_one(to[4 * p + c], own + (load_one(over[3 * p + c]) - own) * share);
    }
    store_one(to[4 * p + 3], r * white<T>);
  }
}

/// Where the second picture covers the first, in pixels of the first.
struct Placement {
  image::Extent base;
  image::Extent over;
  std::int64_t x;
  std::int64_t y;
  std::int64_t left;  // covered columns [left, right), rows [top, bottom)
  std::int64_t right;
  std::int64_t top;
  std::int64_t bottom;
  float opacity;

  Placement(const KernelCall& call, const Overlay& given)
      : base{image::extent(call.shape(0))},
        over{call.inputs.size() > 1 ? image::extent(call.shape(1))
                                    : image::Extent{0, 0, base.channels}},
        x{given.x},
        y{given.y},
        left{std::clamp<std::int64_t>(x, 0, base.width)},
        right{std::clamp<std::int64_t>(x + over.width, left, base.width)},
        top{std::clamp<std::int64_t>(y, 0, base.height)},
        bottom{std::clamp<std::int64_t>(y + over.height, top, base.height)},
        opacity{static_cast<float>(given.alpha)} {}
};

template <class T>
void blend_row(const Placement& at, const T* base, const T* over, T* to) noexcept {
  const auto pixels = static_cast<std::size_t>(at.right - at.left);
  const bool alpha_below = at.base.has_alpha();
  const bool alpha_above = at.over.has_alpha();
  if (alpha_below && alpha_above) return blend_alpha_on_alpha(base, over, to, pixels, at.opacity);
  if (alpha_above) return blend_alpha_on_opaque(base, over, to, pixels, at.opacity);
  if (alpha_below) return blend_opaque_on_alpha(base, over, to, pixels, at.opacity);
  blend_opaque(base, over, to, pixels * static_cast<std::size_t>(at.base.channels), at.opacity);
}

template <class T>
void overlay_row(const Placement& at, const CpuArgs& args, std::int64_t y) noexcept {
  const T* const base = args.in<T>(0) + y * at.base.row();
  T* const to = args.out<T>() + y * at.base.row();
  const auto keep = [&](std::int64_t from, std::int64_t until) {
    if (from == until) return;
    std::memcpy(static_cast<void*>(to + from * at.base.channels), base + from * at.base.channels,
                static_cast<std::size_t>((until - from) * at.base.channels) * sizeof(T));
  };
  if (y < at.top || y >= at.bottom || at.left == at.right) return keep(0, at.base.width);
  keep(0, at.left);
  const T* const over =
      args.in<T>(1) + ((y - at.y) * at.over.width + (at.left - at.x)) * at.over.channels;
  blend_row(at, base + at.left * at.base.channels, over, to + at.left * at.base.channels);
  keep(at.right, at.base.width);
}

template <class T> CpuPlan plan_for(const KernelCall& call) {
  const Placement at{call, options::from<Overlay>(call.params)};
  const auto elements = static_cast<std::size_t>(at.base.elements());
  return band_plan({.height = at.base.height,
                    .work = elements,
                    .grain = std::size_t{1} << 16,
                    .cost_ns = static_cast<double>(elements) * 0.3},
                   [at](const CpuArgs& args, std::byte*, SliceRange rows) {
                     for (std::size_t y = rows.begin; y < rows.end; ++y)
                       overlay_row<T>(at, args, static_cast<std::int64_t>(y));
                   });
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return by_dtype(call.dtype(), [&]<class T>() { return plan_for<T>(call); });
}

}  // namespace

void implement(CpuTable& table) { table.set("overlay", plan); }

}  // namespace stoker::kernels::overlay::STOKER_ISA
