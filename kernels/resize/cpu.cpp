// Each output row is first combined downwards from the input rows it needs into one line, which stays
// in the cache, and then resampled across from that line. Nearest copies pixels.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/bands.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/rows.hpp"
#include "stoker/kernels/image/sampling.hpp"
#include "stoker/kernels/resize/bilinear_bytes.hpp"
#include "stoker/kernels/resize/filter_rows.hpp"
#include "stoker/kernels/resize/halving.hpp"
#include "stoker/kernels/resize/options.hpp"

namespace stoker::kernels::resize::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;
using image::Sampling;

/// What all slices share; immutable.
struct Config {
  image::Extent in;
  image::Extent out;
  Filter mode;
  Sampling down;
  Sampling across;
  std::optional<Lerp> down_bytes;  // the same for u8 images between two pixels an axis
  std::optional<Lerp> across_bytes;

  /// `given` to resize or bicubic_scale, which have the same options.
  Config(const KernelCall& call, const Resize& given, const TensorSpec& output)
      : in{image::extent(call.shape())}, out{image::extent(output.shape)}, mode{given.mode} {
    down = image::sample_axis(mode, in.height, out.height, given.antialias);
    across = image::sample_axis(mode, in.width, out.width, given.antialias);
    if (call.dtype() == DType::u8 && mode == Filter::bilinear && down.taps == 2 &&
        across.taps == 2) {
      down_bytes.emplace(down, 1);
      across_bytes.emplace(across, static_cast<std::size_t>(in.channels));
    }
  }

  [[nodiscard]] bool halves() const noexcept {
    return in.height == 2 * out.height && in.width == 2 * out.width;
  }
};

template <class T, std::size_t Channels>
void filter_band(const Config& config, const T* input, T* output, std::byte* scratch,
                 SliceRange rows) noexcept {
  auto* const line = reinterpret_cast<float*>(scratch);
  const auto row_in = static_cast<std::size_t>(config.in.row());
  const auto row_out = static_cast<std::size_t>(config.out.row());
  const auto taps = static_cast<std::size_t>(config.down.taps);
  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    const T* const from = input + static_cast<std::size_t>(config.down.first[y]) * row_in;
    combine_down(from, config.down.weights.data() + y * taps, taps, row_in, line);
    combine_across<Channels>(config.across, line, output + y * row_out,
                             static_cast<std::size_t>(config.out.width));
  }
}

template <std::size_t Channels>
void bilinear_band(const Config& config, const std::uint8_t* input, std::uint8_t* output,
                   std::byte* scratch, SliceRange rows) noexcept {
  auto* const line = reinterpret_cast<std::uint16_t*>(scratch);
  const auto row_in = static_cast<std::size_t>(config.in.row());
  const auto row_out = static_cast<std::size_t>(config.out.row());
  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    const std::uint8_t* const above =
        input + static_cast<std::size_t>(config.down.first[y]) * row_in;
    lerp_down(above, above + row_in, config.down_bytes->share[y], row_in, line);
    lerp_across<Channels>(*config.across_bytes, line, output + y * row_out,
                          static_cast<std::size_t>(config.out.width));
  }
}

template <std::size_t Channels>
void halving_band(const Config& config, const std::uint8_t* input, std::uint8_t* output,
                  std::byte* scratch, SliceRange rows) noexcept {
  auto* const line = reinterpret_cast<std::uint16_t*>(scratch);
  const auto row_in = static_cast<std::size_t>(config.in.row());
  const auto row_out = static_cast<std::size_t>(config.out.row());
  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    const std::uint8_t* const above = input + 2 * y * row_in;
    add_rows(above, above + row_in, row_in, line);
    halve_across<Channels>(line, output + y * row_out, static_cast<std::size_t>(config.out.width));
  }
}

/// Copies the pixels of `Bytes` bytes that `first` names, in one row.
template <std::size_t Bytes>
void gather_row(const std::byte* from, const std::int32_t* first, std::byte* to,
                std::size_t width) noexcept {
  for (std::size_t x = 0; x < width; ++x)
    std::memcpy(to + x * Bytes, from + static_cast<std::size_t>(first[x]) * Bytes, Bytes);
}

template <class T, std::size_t Channels>
void nearest_band(const Config& config, const T* input, T* output, std::byte*,
                  SliceRange rows) noexcept {
  const auto row_in = static_cast<std::size_t>(config.in.row());
  const auto row_out = static_cast<std::size_t>(config.out.row());
  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    auto* const to = reinterpret_cast<std::byte*>(output + y * row_out);
    if (y > rows.begin && config.down.first[y] == config.down.first[y - 1]) {
      std::memcpy(to, to - row_out * sizeof(T), row_out * sizeof(T));
      continue;
    }
    const T* const from = input + static_cast<std::size_t>(config.down.first[y]) * row_in;
    gather_row<Channels * sizeof(T)>(reinterpret_cast<const std::byte*>(from),
                                     config.across.first.data(), to,
                                     static_cast<std::size_t>(config.out.width));
  }
}

template <class T, std::size_t Channels>
CpuPlan plan_for(const KernelCall& call, const TensorSpec& output) {
  const auto config =
      std::make_shared<const Config>(call, options::from<Resize>(call.params), output);
  const bool nearest = config->mode == Filter::nearest;
  auto band = nearest ? nearest_band<T, Channels> : filter_band<T, Channels>;
  if constexpr (std::is_same_v<T, std::uint8_t>)
    if (config->across_bytes)
      band = halving_pays && config->halves() ? halving_band<Channels> : bilinear_band<Channels>;
  // Whole pixels or windows are read from the line, so it ends later than its last element.
  const std::size_t scratch =
      nearest ? 0
              : aligned((static_cast<std::size_t>(config->in.row()) + 4) * sizeof(float) +
                        2 * (Lerp::window + 4));
  const auto work = static_cast<std::size_t>(config->out.height) *
                    static_cast<std::size_t>(config->in.row() * config->down.taps +
                                             config->out.row() * config->across.taps);
  return band_plan({.height = config->out.height,
                    .work = work,
                    .grain = std::size_t{1} << 17,
                    .scratch = scratch,
                    .cost_ns = static_cast<double>(work) * 0.3},
                   [config, band](const CpuArgs& args, std::byte* memory, SliceRange rows) {
                     band(*config, args.in<T>(0), args.out<T>(), memory, rows);
                   });
}

template <class T> CpuPlan plan_of(const KernelCall& call, const TensorSpec& output) {
  switch (call.shape()[2]) {
    case 1: return plan_for<T, 1>(call, output);
    case 3: return plan_for<T, 3>(call, output);
    default: return plan_for<T, 4>(call, output);
  }
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  return by_dtype(call.dtype(), [&]<class T>() { return plan_of<T>(call, outputs[0]); });
}

}  // namespace

void implement(CpuTable& table) {
  table.set("resize", plan);
  table.set("bicubic_scale", plan);
}

}  // namespace stoker::kernels::resize::STOKER_ISA
