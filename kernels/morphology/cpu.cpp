// Columns are combined first: the extreme of 2 reach + 1 pixels, from the own row outwards, in a padded
// line for each reach that the window has. A row's results then come from 2 radius + 1 places in these
// lines. So a square costs two lines of 2 radius + 1, and a disk hardly more.
#include <algorithm>
#include <memory>
#include <vector>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/bands.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/extremes.hpp"
#include "stoker/kernels/morphology/window.hpp"

namespace stoker::kernels::morphology::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;
using image::Extent;

/// What all bands share; immutable.
struct Config {
  Extent extent;
  Border border;
  std::size_t radius;
  std::vector<std::size_t> line_of_reach;   // for 0 … radius; none: no_line
  std::vector<std::size_t> line_of_column;  // for columns 0 … radius away
  std::size_t lines = 0;

  static constexpr std::size_t no_line = SIZE_MAX;

  Config(const Extent& image, const Window& window)
      : extent{image}, border{window.border}, radius{static_cast<std::size_t>(window.radius)} {
    line_of_reach.assign(radius + 1, no_line);
    for (std::int64_t dx = 0; dx <= window.radius; ++dx) {
      std::size_t& line = line_of_reach[static_cast<std::size_t>(window.reach(dx))];
      if (line == no_line) line = lines++;
      line_of_column.push_back(line);
    }
  }

  [[nodiscard]] std::size_t row() const noexcept { return static_cast<std::size_t>(extent.row()); }
};

struct Least {
  template <class Vector>
  [[gnu::always_inline]] Vector operator()(Vector a, Vector b) const noexcept {
    return min(a, b);
  }
};
struct Most {
  template <class Vector>
  [[gnu::always_inline]] Vector operator()(Vector a, Vector b) const noexcept {
    return max(a, b);
  }
};

/// Scratch of one band: the pointers to the source rows and to the lines, then zeros and lines.
template <class T> struct Scratch {
  std::size_t rows_bytes;
  std::size_t pointers_bytes;
  LineScratch<T> lines;
  std::size_t bytes;

  explicit Scratch(const Config& config) noexcept
      : rows_bytes{aligned((2 * config.radius + 1) * sizeof(void*))},
        pointers_bytes{rows_bytes + aligned(config.lines * sizeof(void*))},
        lines{config.extent, static_cast<std::int64_t>(config.radius), config.lines},
        bytes{aligned(pointers_bytes + lines.bytes)} {}
};

/// `rows` holds the own row and then, for each distance, the row above and the row below.
template <class T, class Extreme, class Line>
void combine_down(const Config& config, const T* const* rows, Line* const* lines) {
  using Own = Ordered<T>;
  const Extreme extreme;
  over_row<Own::step, 2>(config.row(), [&](auto blocks, std::size_t i, auto part) {
    typename Own::Vector sofar[blocks()];
    for (std::size_t k = 0; k <= config.radius; ++k) {
      for (std::size_t b = 0; b < blocks(); ++b) {
        const std::size_t at = i + b * Own::step;
        if (k == 0)
          sofar[b] = Own::from(rows[0] + at, part);
        else
          sofar[b] = extreme(sofar[b], extreme(Own::from(rows[2 * k - 1] + at, part),
                                               Own::from(rows[2 * k] + at, part)));
      }
      const std::size_t line = config.line_of_reach[k];
      if (line == Config::no_line) continue;
      for (std::size_t b = 0; b < blocks(); ++b)
        store_raw(lines[line] + i + b * Own::step, sofar[b], part);
    }
  });
}

template <class T, class Extreme, class Line>
void combine_across(const Config& config, Line* const* lines, T* to) {
  using Own = Ordered<T>;
  using Vector = typename Own::Vector;
  const Extreme extreme;
  const auto channels = static_cast<std::size_t>(config.extent.channels);
  over_row<Own::step, 4>(config.row(), [&](auto blocks, std::size_t i, auto part) {
    Vector result[blocks()];
    const Line* const own = lines[config.line_of_column[0]] + i;
    for (std::size_t b = 0; b < blocks(); ++b)
      result[b] = load_raw<Vector>(own + b * Own::step, Full{});
    for (std::size_t dx = 1; dx <= config.radius; ++dx) {
      const Line* const line = lines[config.line_of_column[dx]] + i;
      const Line* const left = line - dx * channels;
      const Line* const right = line + dx * channels;
      for (std::size_t b = 0; b < blocks(); ++b)
        result[b] = extreme(result[b], extreme(load_raw<Vector>(left + b * Own::step, Full{}),
                                               load_raw<Vector>(right + b * Own::step, Full{})));
    }
    for (std::size_t b = 0; b < blocks(); ++b) Own::to(to + i + b * Own::step, result[b], part);
  });
}

template <class T, class Extreme>
void band(const Config& config, const T* source, T* output, std::byte* scratch, SliceRange range) {
  using Line = typename Ordered<T>::Line;
  const Scratch<T> layout{config};
  auto** const rows = reinterpret_cast<const T**>(scratch);
  auto** const lines = reinterpret_cast<Line**>(scratch + layout.rows_bytes);
  std::byte* const rest = scratch + layout.pointers_bytes;
  T* const zeros = reinterpret_cast<T*>(rest);
  if (config.border == Border::constant) std::fill_n(zeros, config.row(), T{});
  for (std::size_t i = 0; i < config.lines; ++i) lines[i] = layout.lines.line(rest, i);

  const auto row_at = [&](std::int64_t y) {
    return source_row(source, config.extent, config.border, y, zeros);
  };
  for (std::size_t y = range.begin; y < range.end; ++y) {
    const auto centre = static_cast<std::int64_t>(y);
    rows[0] = row_at(centre);
    for (std::size_t k = 1; k <= config.radius; ++k) {
      rows[2 * k - 1] = row_at(centre - static_cast<std::int64_t>(k));
      rows[2 * k] = row_at(centre + static_cast<std::int64_t>(k));
    }
    combine_down<T, Extreme>(config, rows, lines);
    for (std::size_t i = 0; i < config.lines; ++i)
      pad_line(lines[i], config.extent, config.border, static_cast<std::int64_t>(config.radius));
    T* const to = output + y * config.row();
    combine_across<T, Extreme>(config, lines, to);
    if (config.extent.has_alpha())
      copy_alpha(to, rows[0], static_cast<std::size_t>(config.extent.width));
  }
}

template <class T, class Extreme> CpuPlan plan_for(const KernelCall& call) {
  const auto config = std::make_shared<const Config>(image::extent(call.shape()), Window::of(call));
  const std::size_t values =
      static_cast<std::size_t>(config->extent.height) * config->row() * (4 * config->radius + 2);
  return band_plan(
      {.height = config->extent.height,
       .work = values,
       .grain = std::size_t{1} << 19,
       .scratch = Scratch<T>{*config}.bytes,
       .cost_ns = static_cast<double>(values * sizeof(typename Ordered<T>::Line)) * 0.03},
      [config](const CpuArgs& args, std::byte* scratch, SliceRange rows) {
        band<T, Extreme>(*config, args.in<T>(0), args.out<T>(), scratch, rows);
      });
}

template <class Extreme> Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return by_dtype(call.dtype(), [&]<class T>() { return plan_for<T, Extreme>(call); });
}

}  // namespace

void implement(CpuTable& table) {
  table.set("erode", plan<Least>);
  table.set("dilate", plan<Most>);
}

}  // namespace stoker::kernels::morphology::STOKER_ISA
