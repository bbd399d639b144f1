// Pixels are taken apart into planes of a few hundred values that stay in the first-level cache,
// combined there, and put together again.
#include <algorithm>

#include "stoker/kernels/cpu/copy_plan.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/grayscale/options.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/lanes.hpp"

namespace stoker::kernels::grayscale::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;

constexpr std::size_t block = 1024;  // pixels

// BT.601 in 1/65536; they sum to 65536, so grey stays grey.
constexpr std::uint16_t red = 19595;
constexpr std::uint16_t green = 38470;
constexpr std::uint16_t blue = 7471;

/// The grey values of `n` ≤ block pixels. For u8 each product of 8 fraction bits is cut, which loses
/// less than 3/256 of a level.
template <int Channels>
void grey_of(const std::uint8_t* from, std::uint8_t* to, std::size_t n) noexcept {
  const auto part = [](std::uint8_t value, std::uint16_t weight) {
    return static_cast<std::uint16_t>((static_cast<std::uint32_t>(value << 8) * weight) >> 16);
  };
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint8_t* const pixel = from + Channels * i;
    const auto sum = static_cast<std::uint16_t>(part(pixel[0], red) + part(pixel[1], green) +
                                                part(pixel[2], blue) + 129);
    to[i] = static_cast<std::uint8_t>(sum >> 8);
  }
}

template <int Channels> void grey_of(const float* from, float* to, std::size_t n) noexcept {
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) {
    const float* const pixel = from + Channels * i;
    to[i] = 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
  }
}

template <int Channels> void grey_of(const Half* from, Half* to, std::size_t n) noexcept {
  float values[block * Channels];
  float grey[block];
  over_row<lanes, 1>(n * Channels, [&](auto, std::size_t i, auto part) {
    store(values + i, load(from + i, part), part);
  });
  grey_of<Channels>(values, grey, n);
  over_row<lanes, 1>(
      n, [&](auto, std::size_t i, auto part) { store(to + i, load(grey + i, part), part); });
}

template <class T, int Channels> CpuPlan plan_for(std::size_t pixels, bool keep) {
  const std::uint32_t slices = slice_count(pixels, std::size_t{1} << 15);
  CpuPlan plan;
  plan.cost_ns = static_cast<double>(pixels * sizeof(T)) * 0.3;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(pixels, slices, index);
                           const T* const from = args.in<T>(0);
                           T* const to = args.out<T>();
                           for (std::size_t i = range.begin; i < range.end; i += block) {
                             const std::size_t n = std::min(block, range.end - i);
                             const T* const source = from + Channels * i;
                             if (!keep) {
                               grey_of<Channels>(source, to + i, n);
                               continue;
                             }
                             T grey[block];
                             grey_of<Channels>(source, grey, n);
                             T* const target = to + Channels * i;
#pragma GCC ivdep
                             for (std::size_t p = 0; p < n; ++p) {
                               for (int c = 0; c < 3; ++c) target[Channels * p + c] = grey[p];
                               if constexpr (Channels == 4) target[4 * p + 3] = source[4 * p + 3];
                             }
                           }
                         }});
  return plan;
}

template <class T> Result<CpuPlan> plan_of(const KernelCall& call) {
  const image::Extent image = image::extent(call.shape());
  const auto pixels = static_cast<std::size_t>(image.height * image.width);
  const bool keep = options::from<Grayscale>(call.params).keep_channels;
  switch (image.channels) {
    case 3: return plan_for<T, 3>(pixels, keep);
    case 4: return plan_for<T, 4>(pixels, keep);
    default: return cpu::STOKER_ISA::copy_plan(pixels * sizeof(T));
  }
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return by_dtype(call.dtype(), [&]<class T>() { return plan_of<T>(call); });
}

}  // namespace

void implement(CpuTable& table) { table.set("grayscale", plan); }

}  // namespace stoker::kernels::grayscale::STOKER_ISA
