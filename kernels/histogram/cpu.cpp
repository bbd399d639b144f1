// Every slice counts into tables of its own, and one slice adds these up. Bytes
// are counted by their value, in two tables in turn, so that equal neighbours
// do not wait for each other; floats by their bin, with one counter more for
// what is outside.
#include <algorithm>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/histogram/bins.hpp"
#include "stoker/kernels/histogram/count_bytes.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/lanes.hpp"

namespace stoker::kernels::histogram::STOKER_ISA {
namespace {

struct Config {
  std::size_t pixels;
  std::size_t channels;
  Bins bins;

  [[nodiscard]] std::size_t bin_count() const noexcept {
    return static_cast<std::size_t>(bins.count);
  }
};

/// The tables of a slice: `tables` for each channel, one after the other.
template <class T> struct Tables {
  static constexpr bool by_value = std::is_same_v<T, std::uint8_t>;
  static constexpr std::size_t tables = by_value ? byte_counters / 256 : 1;
  std::size_t counters;  ///< of one table

  explicit Tables(const Config& config) noexcept
      : counters{by_value ? 256 : config.bin_count() + 1} {}
  [[nodiscard]] std::size_t all(const Config& config) const noexcept {
    return config.channels * tables * counters;
  }
  /// The bin that a counter counts for, or the number of bins.
  static std::size_t bin_of(std::size_t counter, const Bins& bins) noexcept {
    if constexpr (by_value)
      return static_cast<std::size_t>(bins.of(static_cast<float>(counter)));
    else
      return counter;
  }
};

template <std::size_t Channels>
void count(const std::uint8_t* from, std::size_t pixels, const Bins&, std::uint32_t* counters) {
  count_bytes<Channels>(from, pixels, counters);
}

template <std::size_t Channels, class T>
void count(const T* from, std::size_t pixels, const Bins& bins, std::uint32_t* counters) {
  constexpr std::size_t block = 256;  // pixels
  std::int32_t places[block * Channels];
  const auto table = static_cast<std::size_t>(bins.count) + 1;
  for (std::size_t i = 0; i < pixels; i += block) {
    const std::size_t n = std::min(block, pixels - i);
    const T* const own = from + Channels * i;
    for (std::size_t k = 0; k < Channels * n; ++k)
      places[k] = bins.of(image::STOKER_ISA::load_one(own[k]));
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t c = 0; c < Channels; ++c)
        ++counters[table * c + static_cast<std::size_t>(places[Channels * p + c])];
  }
}

template <class T>
void count_slice(const Config& config, const T* from, SliceRange range, std::uint32_t* counters) {
  std::fill_n(counters, Tables<T>{config}.all(config), 0U);
  const T* const own = from + config.channels * range.begin;
  const std::size_t pixels = range.end - range.begin;
  switch (config.channels) {
    case 3: return count<3>(own, pixels, config.bins, counters);
    case 4: return count<4>(own, pixels, config.bins, counters);
    default: return count<1>(own, pixels, config.bins, counters);
  }
}

template <class T>
void add_up(const Config& config, const std::uint32_t* counters, std::uint32_t slices,
            std::uint32_t* to) {
  using Own = Tables<T>;
  const Own own{config};
  std::fill_n(to, config.channels * config.bin_count(), 0U);
  for (std::uint32_t slice = 0; slice < slices; ++slice)
    for (std::size_t c = 0; c < config.channels; ++c)
      for (std::size_t table = 0; table < Own::tables; ++table)
        for (std::size_t i = 0; i < own.counters; ++i, ++counters) {
          const std::size_t bin = Own::bin_of(i, config.bins);
          if (bin < config.bin_count()) to[c * config.bin_count() + bin] += *counters;
        }
}

template <class T> CpuPlan plan_for(const KernelCall& call) {
  const image::Extent image = image::extent(call.shape());
  const Config config{static_cast<std::size_t>(image.height * image.width),
                      static_cast<std::size_t>(image.channels),
                      Bins::of(options::from<Histogram>(call.params), call.dtype())};
  const std::size_t counters = Tables<T>{config}.all(config);
  const std::size_t elements = config.pixels * config.channels;
  const std::uint32_t slices =
      slice_count(elements, std::max<std::size_t>(std::size_t{1} << 16, 4 * counters));
  CpuPlan plan;
  plan.scratch_bytes = slices * counters * sizeof(std::uint32_t);
  plan.cost_ns = static_cast<double>(elements + counters) * 0.8;
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           auto* const all = reinterpret_cast<std::uint32_t*>(args.scratch);
                           count_slice(config, args.in<T>(0),
                                       slice_range(config.pixels, slices, index),
                                       all + index * counters);
                         }});
  plan.stages.push_back({1, [=](const CpuArgs& args, std::uint32_t) {
                           add_up<T>(config, reinterpret_cast<const std::uint32_t*>(args.scratch),
                                     slices, args.out<std::uint32_t>());
                         }});
  return plan;
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return image::STOKER_ISA::by_dtype(call.dtype(), [&]<class T>() { return plan_for<T>(call); });
}

}  // namespace

void implement(CpuTable& table) { table.set("histogram", plan); }

}  // namespace stoker::kernels::histogram::STOKER_ISA
