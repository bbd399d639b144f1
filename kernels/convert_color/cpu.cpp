// Pixels are taken apart into planes of a few hundred floats that stay in the first-level cache,
// converted there, and put together again.
#include <algorithm>

#include "stoker/kernels/convert_color/formulas.hpp"
#include "stoker/kernels/cpu/copy_plan.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/lanes.hpp"

namespace stoker::kernels::convert_color::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;

template <class T> inline constexpr float white = std::is_same_v<T, std::uint8_t> ? 255.0F : 1.0F;

/// RGB and BGR only trade planes; null: nothing is to be done.
struct Conversion {
  Step to_rgb;
  Step from_rgb;
  bool turns;

  Conversion(ColorSpace from, ColorSpace to) noexcept
      : to_rgb{step_to_rgb(from)}, from_rgb{step_from_rgb(to)}, turns{is_rgb(from) && is_rgb(to)} {}
  static bool is_rgb(ColorSpace space) noexcept {
    return space == ColorSpace::rgb || space == ColorSpace::bgr;
  }
};

/// The colours of a block as they are stored, in planes.
template <class T> struct RawPlanes { alignas(64) T at[3][block]; };

template <std::size_t Channels, class T>
void take_apart(const T* from, RawPlanes<T>& raw, std::size_t n) noexcept {
  T* const first = raw.at[0];
  T* const second = raw.at[1];
  T* const third = raw.at[2];
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    first[i] = from[Channels * i];
    second[i] = from[Channels * i + 1];
    third[i] = from[Channels * i + 2];
  }
}

/// With `turned` the third plane comes first. `from` is where alpha comes from.
template <std::size_t Channels, class T>
void put_together(const RawPlanes<T>& raw, bool turned, const T* from, T* to,
                  std::size_t n) noexcept {
  const T* const first = raw.at[turned ? 2 : 0];
  const T* const second = raw.at[1];
  const T* const third = raw.at[turned ? 0 : 2];
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    to[Channels * i] = first[i];
    to[Channels * i + 1] = second[i];
    to[Channels * i + 2] = third[i];
    if constexpr (Channels == 4) to[Channels * i + 3] = from[Channels * i + 3];
  }
}

template <class T> void widen(const RawPlanes<T>& raw, Planes& planes, std::size_t n) noexcept {
  for (std::size_t c = 0; c < 3; ++c)
    over_row<lanes, 1>(n, [&](auto, std::size_t i, auto part) {
      store(planes.at[c] + i, load(raw.at[c] + i, part) * (1.0F / white<T>), part);
    });
}

template <class T> void narrow(const Planes& planes, RawPlanes<T>& raw, std::size_t n) noexcept {
  for (std::size_t c = 0; c < 3; ++c)
    over_row<lanes, 1>(n, [&](auto, std::size_t i, auto part) {
      store(raw.at[c] + i, load(planes.at[c] + i, part) * white<T>, part);
    });
}

template <class T, std::size_t Channels>
void convert(const T* from, T* to, std::size_t pixels, const Conversion& conversion) noexcept {
  constexpr Neutral neutral{std::is_same_v<T, std::uint8_t> ? 128.0F / 255.0F : 0.5F};
  RawPlanes<T> raw;
  Planes planes;
  for (std::size_t i = 0; i < pixels; i += block) {
    const std::size_t n = std::min(block, pixels - i);
    take_apart<Channels>(from + Channels * i, raw, n);
    if (!conversion.turns) {
      widen(raw, planes, n);
      if (conversion.to_rgb != nullptr) conversion.to_rgb(planes, n, neutral);
      if (conversion.from_rgb != nullptr) conversion.from_rgb(planes, n, neutral);
      narrow(planes, raw, n);
    }
    put_together<Channels>(raw, conversion.turns, from + Channels * i, to + Channels * i, n);
  }
}

template <class T, std::size_t Channels>
CpuPlan plan_for(const Conversion& conversion, std::size_t pixels) {
  const std::uint32_t slices = slice_count(pixels, std::size_t{1} << 14);
  CpuPlan plan;
  plan.cost_ns = static_cast<double>(pixels) * 2.0;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(pixels, slices, index);
                           const std::size_t n = range.end - range.begin;
                           const T* const from = args.in<T>(0) + Channels * range.begin;
                           T* const to = args.out<T>() + Channels * range.begin;
                           convert<T, Channels>(from, to, n, conversion);
                         }});
  return plan;
}

template <class T> Result<CpuPlan> plan_of(const KernelCall& call) {
  const image::Extent image = image::extent(call.shape());
  const auto pixels = static_cast<std::size_t>(image.height * image.width);
  const auto given = options::from<ConvertColor>(call.params);
  if (given.from == given.to) return cpu::STOKER_ISA::copy_plan(call.inputs[0].bytes());
  const Conversion conversion{given.from, given.to};
  if (image.has_alpha()) return plan_for<T, 4>(conversion, pixels);
  return plan_for<T, 3>(conversion, pixels);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return by_dtype(call.dtype(), [&]<class T>() { return plan_of<T>(call); });
}

}  // namespace

void implement(CpuTable& table) { table.set("convert_color", plan); }

}  // namespace stoker::kernels::convert_color::STOKER_ISA
