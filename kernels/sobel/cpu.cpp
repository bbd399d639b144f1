// Each output row is combined downwards first into two padded lines, the smoothed row [1 2 1] and
// the difference [-1 0 1], and both gradients then come from neighbours in those lines. For u8 the
// lines hold exact 16-bit integers: sums of at most 1020.
#include <algorithm>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/bands.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/image/rows.hpp"
#include "stoker/kernels/sobel/options.hpp"

namespace stoker::kernels::sobel::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;
using image::Extent;

using Output = SobelOutput;

struct Config {
  Extent extent;
  Border border;
  float scale;

  [[nodiscard]] std::size_t row() const noexcept { return static_cast<std::size_t>(extent.row()); }
};

template <class T>
using Line = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::uint16_t, float>;

/// Scratch of one band: a row of zeros and the two lines, each padded by one pixel (64 bytes hold
/// it) and one vector that whole loads may touch.
template <class T> struct Scratch {
  static constexpr std::size_t padding = 64;
  std::size_t line_bytes;
  std::size_t smooth_at;
  std::size_t difference_at;
  std::size_t bytes;

  explicit Scratch(const Config& config) noexcept {
    line_bytes = padding + aligned(config.row() * sizeof(Line<T>)) + padding + vector_bytes;
    smooth_at = aligned(config.row() * sizeof(T));
    difference_at = smooth_at + aligned(line_bytes);
    bytes = difference_at + aligned(line_bytes);
  }
};

template <class T>
void combine_down(std::size_t row, const T* above, const T* centre, const T* below, float* smooth,
                  float* difference) {
  over_row<lanes, 2>(row, [&](auto blocks, std::size_t start, auto part) {
    for (std::size_t i = start; i < start + blocks() * lanes; i += lanes) {
      const Floats a = load(above + i, part);
      const Floats b = load(below + i, part);
      store(smooth + i, a + b + 2.0F * load(centre + i, part), part);
      store(difference + i, b - a, part);
    }
  });
}

void combine_down(std::size_t row, const std::uint8_t* above, const std::uint8_t* centre,
                  const std::uint8_t* below, std::uint16_t* smooth, std::uint16_t* difference) {
  over_row<word_lanes, 2>(row, [&](auto blocks, std::size_t start, auto part) {
    for (std::size_t i = start; i < start + blocks() * word_lanes; i += word_lanes) {
      const Words a = load_words(above + i, part);
      const Words b = load_words(below + i, part);
      store_raw(smooth + i, a + b + (load_words(centre + i, part) << 1), part);
      store_raw(difference + i, b - a, part);  // negative in two's complement
    }
  });
}

template <Output Which> Floats result(Floats x, Floats y, float scale) {
  if constexpr (Which == Output::x) return x * scale;
  if constexpr (Which == Output::y) return y * scale;
  Floats sum = x * x + y * y;
#if defined(__AVX512F__)
  sum = _mm512_maskz_sqrt_ps(0xffff, sum);
#elif defined(__AVX2__)
  sum = _mm256_sqrt_ps(sum);
#else
  for (std::size_t i = 0; i < lanes; ++i) sum[i] = __builtin_sqrtf(sum[i]);
#endif
  return sum * scale;
}

template <Output Which, class T>
void gradients(const Config& config, const float* smooth, const float* difference, T* output) {
  const auto step = static_cast<std::size_t>(config.extent.channels);
  over_row<lanes, 1>(config.row(), [&](auto, std::size_t i, auto part) {
    const auto at = [&](const float* line) { return load(line, Full{}); };
    const Floats x = at(smooth + i + step) - at(smooth + i - step);
    const Floats y =
        at(difference + i - step) + 2.0F * at(difference + i) + at(difference + i + step);
    store(output + i, result<Which>(x, y, config.scale), part);
  });
}

template <Output Which>
void gradients(const Config& config, const std::uint16_t* smooth, const std::uint16_t* difference,
               std::uint8_t* output) {
  const auto step = static_cast<std::size_t>(config.extent.channels);
  over_row<word_lanes, 1>(config.row(), [&](auto, std::size_t i, auto part) {
    const auto at = [&](const std::uint16_t* line) { return load_raw<Words>(line, Full{}); };
    const Words x = at(smooth + i + step) - at(smooth + i - step);
    const Words y =
        at(difference + i - step) + (at(difference + i) << 1) + at(difference + i + step);
    over_halves(part, [&](auto half, std::size_t offset, auto piece) {
      const Floats value =
          result<Which>(signed_half<half()>(x), signed_half<half()>(y), config.scale);
      store(output + i + offset, value, piece);
    });
  });
}

template <class T, Output Which>
void band(const Config& config, const T* source, T* output, std::byte* scratch, SliceRange rows) {
  const Scratch<T> layout{config};
  T* const zeros = reinterpret_cast<T*>(scratch);
  auto* const smooth = reinterpret_cast<Line<T>*>(scratch + layout.smooth_at + Scratch<T>::padding);
  auto* const difference =
      reinterpret_cast<Line<T>*>(scratch + layout.difference_at + Scratch<T>::padding);
  if (config.border == Border::constant) std::fill_n(zeros, config.row(), T{});

  const auto row_at = [&](std::int64_t y) {
    return source_row(source, config.extent, config.border, y, zeros);
  };
  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    const auto centre = static_cast<std::int64_t>(y);
    combine_down(config.row(), row_at(centre - 1), row_at(centre), row_at(centre + 1), smooth,
                 difference);
    pad_line(smooth, config.extent, config.border, 1);
    pad_line(difference, config.extent, config.border, 1);
    T* const to = output + y * config.row();
    gradients<Which>(config, smooth, difference, to);
    if (config.extent.has_alpha())
      copy_alpha(to, row_at(centre), static_cast<std::size_t>(config.extent.width));
  }
}

template <class T, Output Which> CpuPlan plan_for(const Config& config) {
  const std::size_t elements = static_cast<std::size_t>(config.extent.height) * config.row();
  return band_plan({.height = config.extent.height,
                    .work = elements,
                    .grain = std::size_t{1} << 15,
                    .scratch = Scratch<T>{config}.bytes,
                    .cost_ns = static_cast<double>(elements) * 0.5},
                   [config](const CpuArgs& args, std::byte* scratch, SliceRange rows) {
                     band<T, Which>(config, args.in<T>(0), args.out<T>(), scratch, rows);
                   });
}

template <class T> CpuPlan plan_for(const Config& config, Output output) {
  if (output == Output::x) return plan_for<T, Output::x>(config);
  if (output == Output::y) return plan_for<T, Output::y>(config);
  return plan_for<T, Output::magnitude>(config);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const auto given = options::from<Sobel>(call.params);
  const Config config{image::extent(call.shape()), given.border, static_cast<float>(given.scale)};
  return by_dtype(call.dtype(), [&]<class T>() { return plan_for<T>(config, given.output); });
}

}  // namespace

void implement(CpuTable& table) { table.set("sobel", plan); }

}  // namespace stoker::kernels::sobel::STOKER_ISA
