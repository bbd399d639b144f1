#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/flip/options.hpp"
#include "stoker/kernels/image/image.hpp"

namespace stoker::kernels::flip::STOKER_ISA {
namespace {

typedef std::uint8_t Block [[gnu::vector_size(16)]];

/// Reverses the whole pixels of `Pixel` bytes at the upper end of a block into its lower end.
template <std::size_t Pixel, std::size_t... I>
[[gnu::always_inline]] inline Block reversed(Block block, std::index_sequence<I...>) noexcept {
  constexpr std::size_t used = 16 / Pixel * Pixel;
  constexpr auto from = [](std::size_t i) {
    return static_cast<int>(i < used ? 16 - (i / Pixel + 1) * Pixel + i % Pixel : 0);
  };
  return __builtin_shufflevector(block, block, from(I)...);
}

/// Writes the `width` pixels of `from` to `to`, last one first.
template <std::size_t Pixel>
void mirror_row(const std::byte* from, std::byte* to, std::size_t width) noexcept {
  std::size_t x = 0;
  if constexpr (Pixel <= 16) {
    constexpr std::size_t together = 16 / Pixel;
    const std::size_t bytes = width * Pixel;
    // Blocks end where the pixels still to come end, and may begin before those that fit; the bytes
    // they write past theirs are overwritten by the next one.
    while ((x * Pixel + 16 <= bytes) && (width - x) * Pixel >= 16) {
      Block block;
      std::memcpy(&block, from + (width - x) * Pixel - 16, 16);
      block = reversed<Pixel>(block, std::make_index_sequence<16>{});
      std::memcpy(to + x * Pixel, &block, 16);
      x += together;
    }
  }
  for (; x < width; ++x) std::memcpy(to + x * Pixel, from + (width - 1 - x) * Pixel, Pixel);
}

using RowMove = void (*)(const std::byte*, std::byte*, std::size_t) noexcept;

RowMove mirror_for(std::size_t pixel) noexcept {
  switch (pixel) {
    case 1: return mirror_row<1>;
    case 2: return mirror_row<2>;
    case 3: return mirror_row<3>;
    case 4: return mirror_row<4>;
    case 6: return mirror_row<6>;
    case 8: return mirror_row<8>;
    case 12: return mirror_row<12>;
    case 16: return mirror_row<16>;
    case 24: return mirror_row<24>;
    default: return mirror_row<32>;
  }
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const image::Extent image = image::extent(call.shape());
  const FlipAxis axis = options::from<Flip>(call.params).axis;
  const bool turns = axis != FlipAxis::horizontal;
  const std::size_t pixel = static_cast<std::size_t>(image.channels) * size_of(call.dtype());
  const RowMove mirror = axis == FlipAxis::vertical ? nullptr : mirror_for(pixel);
  const auto width = static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  const std::size_t row = width * pixel;
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(slice_count(height * row, std::size_t{1} << 18), height));
  const bool streams = height * row >= cpu::STOKER_ISA::stream_from_bytes;

  CpuPlan plan;
  plan.cost_ns = static_cast<double>(height * row) * 0.1;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(height, slices, index, 1);
                           for (std::size_t y = range.begin; y < range.end; ++y) {
                             const std::byte* const from =
                                 args.in<std::byte>(0) + (turns ? height - 1 - y : y) * row;
                             std::byte* const to = args.out<std::byte>() + y * row;
                             if (mirror != nullptr)
                               mirror(from, to, width);
                             else if (streams)
                               cpu::STOKER_ISA::stream_copy(to, from, row);
                             else
                               std::memcpy(to, from, row);
                           }
                           if (streams) cpu::STOKER_ISA::stream_fence();
                         }});
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("flip", plan); }

}  // namespace stoker::kernels::flip::STOKER_ISA
