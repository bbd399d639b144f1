// A row of the output is a line through the input. Where the line lies inside, no pixel is checked; the
// columns where it enters and leaves are known beforehand.
#include <algorithm>
#include <cstring>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/bands.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/rotate/pixel.hpp"
#include "stoker/kernels/rotate/turn.hpp"

namespace stoker::kernels::rotate::STOKER_ISA {
namespace {

/// Columns [begin, end) of a row.
struct Columns {
  std::int64_t begin;
  std::int64_t end;
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b > 0 ? 1 : 0);
}

/// Those of `all` where low ≤ start + step · column < high; none: an empty range within `all`.
Columns within(std::int64_t start, std::int64_t step, std::int64_t low, std::int64_t high,
               Columns all) noexcept {
  if (step < 0) return within(-start, -step, 1 - high, 1 - low, all);
  if (step == 0) return start >= low && start < high ? all : Columns{all.begin, all.begin};
  const std::int64_t begin = std::clamp(divide_up(low - start, step), all.begin, all.end);
  return {begin, std::clamp(divide_up(high - start, step), begin, all.end)};
}

/// Positions along one row of the output, in steps of 2^-31 pixels.
struct Line {
  std::int64_t x;
  std::int64_t y;
  std::int64_t x_step;
  std::int64_t y_step;

  Line(const Turn& turn, std::int64_t row) noexcept
      : x{turn.x_start - 2 * turn.sine * row},
        y{turn.y_start + 2 * turn.cosine * row},
        x_step{2 * turn.cosine},
        y_step{2 * turn.sine} {}

  void go(std::int64_t columns) noexcept {
    x += columns * x_step;
    y += columns * y_step;
  }
  /// The columns where x lies in [first, width) and y in [first, height), all in pixels.
  [[nodiscard]] Columns inside(std::int64_t first, std::int64_t width, std::int64_t height,
                               Columns all) const noexcept {
    const auto end = [&](std::int64_t pixels) { return std::max(first, pixels) * pixel_steps; };
    const std::int64_t begin = first * pixel_steps;
    return within(y, y_step, begin, end(height), within(x, x_step, begin, end(width), all));
  }
};

template <class T, std::size_t Channels> struct Sampler {
  using Own = Pixel<T, Channels>;
  using Value = typename Own::Value;

  const Turn& turn;
  const T* input;
  Value background;

  Sampler(const Turn& all, const T* from) noexcept : turn{all}, input{from} {
    if constexpr (Channels == 1)
      background = all.background;
    else
      background = Quad{all.background, all.background, all.background, 0.0F};
  }

  [[nodiscard]] const T* at(std::int64_t row, std::int64_t column) const noexcept {
    return input + (row * turn.in.width + column) * static_cast<std::int64_t>(Channels);
  }
  [[nodiscard]] Value checked(std::int64_t row, std::int64_t column) const noexcept {
    const bool exists = row >= 0 && column >= 0 && row < turn.in.height && column < turn.in.width;
    return exists ? Own::load_alone(at(row, column)) : background;
  }

  static constexpr float step_share = 1.0F / static_cast<float>(pixel_steps);
  /// From the pixel before a position to it.
  static std::int32_t steps_behind(std::int64_t position) noexcept {
    return static_cast<std::int32_t>(position & (pixel_steps - 1));
  }
  [[gnu::always_inline]] static Value mixed(const Line& line, Value top_left, Value top_right,
                                            Value bottom_left, Value bottom_right) noexcept {
    const float across = static_cast<float>(steps_behind(line.x)) * step_share;
    const float down = static_cast<float>(steps_behind(line.y)) * step_share;
    const Value above = top_left + (top_right - top_left) * across;
    const Value below = bottom_left + (bottom_right - bottom_left) * across;
    return above + (below - above) * down;
  }

  [[nodiscard]] static T* place(T* row, std::int64_t column) noexcept {
    return row + column * static_cast<std::int64_t>(Channels);
  }
  void fill(Columns columns, T* to) const noexcept {
    for (std::int64_t i = columns.begin; i < columns.end; ++i) Own::store(place(to, i), background);
  }
  /// Columns that see the background or what a load may not read behind.
  void blend_edge(Line& line, Columns columns, T* to) const noexcept {
    for (std::int64_t i = columns.begin; i < columns.end; ++i, line.go(1)) {
      const std::int64_t top = line.y >> 31;
      const std::int64_t left = line.x >> 31;
      Own::store(place(to, i), mixed(line, checked(top, left), checked(top, left + 1),
                                     checked(top + 1, left), checked(top + 1, left + 1)));
    }
  }
  void blend(Line& line, Columns columns, T* to) const noexcept {
    const std::int64_t next_row = turn.in.row();
    for (std::int64_t i = columns.begin; i < columns.end; ++i, line.go(1)) {
      const T* const from = at(line.y >> 31, line.x >> 31);
      Own::store(place(to, i),
                 mixed(line, Own::load(from), Own::load(from + Channels),
                       Own::load(from + next_row), Own::load(from + next_row + Channels)));
    }
  }
  /// The same for grey: pixels are gathered one by one, then many are mixed at once.
  void blend_grey(Line& line, Columns columns, T* to) const noexcept {
    using namespace image::STOKER_ISA;
    constexpr std::int64_t block = 256;
    T corners[4][block];
    std::int32_t across[block];
    std::int32_t down[block];
    for (std::int64_t start = columns.begin; start < columns.end; start += block) {
      const std::int64_t n = std::min(block, columns.end - start);
      for (std::int64_t i = 0; i < n; ++i, line.go(1)) {
        const T* const above = at(line.y >> 31, line.x >> 31);
        const T* const below = above + turn.in.width;
        corners[0][i] = above[0];
        corners[1][i] = above[1];
        corners[2][i] = below[0];
        corners[3][i] = below[1];
        across[i] = steps_behind(line.x);
        down[i] = steps_behind(line.y);
      }
      over_row<lanes, 1>(static_cast<std::size_t>(n), [&](auto, std::size_t i, auto part) {
        const auto share = [&](const std::int32_t* steps) {
          return __builtin_convertvector(load_raw<Ints>(steps + i, part), Floats) * step_share;
        };
        const auto mix = [&](Floats a, Floats b, Floats t) { return a + (b - a) * t; };
        const Floats t = share(across);
        store(to + start + i,
              mix(mix(load(corners[0] + i, part), load(corners[1] + i, part), t),
                  mix(load(corners[2] + i, part), load(corners[3] + i, part), t), share(down)),
              part);
      });
    }
  }

  void bilinear_row(std::int64_t row, T* to) const noexcept {
    Line line{turn, row};
    const std::int64_t height = turn.in.height;
    const std::int64_t width = turn.in.width;
    const Columns seen = line.inside(-1, width, height, {0, turn.out.width});
    // The next pixel and what its load reads behind it exist, too.
    const Columns inside =
        line.inside(0, width - (Own::loaded > Channels ? 2 : 1), height - 1, seen);
    fill({0, seen.begin}, to);
    line.go(seen.begin);
    blend_edge(line, {seen.begin, inside.begin}, to);
    if constexpr (Channels == 1)
      blend_grey(line, inside, to);
    else
      blend(line, inside, to);
    blend_edge(line, {inside.end, seen.end}, to);
    fill({seen.end, turn.out.width}, to);
  }

  void nearest_row(std::int64_t row, T* to) const noexcept {
    Line line{turn, row};
    line.x += pixel_steps / 2;
    line.y += pixel_steps / 2;
    const Columns inside = line.inside(0, turn.in.width, turn.in.height, {0, turn.out.width});
    fill({0, inside.begin}, to);
    line.go(inside.begin);
    for (std::int64_t i = inside.begin; i < inside.end; ++i, line.go(1))
      std::memcpy(static_cast<void*>(place(to, i)), at(line.y >> 31, line.x >> 31),
                  Channels * sizeof(T));
    fill({inside.end, turn.out.width}, to);
  }
};

template <class T, std::size_t Channels> CpuPlan plan_for(const Turn& turn) {
  const auto pixels = static_cast<std::size_t>(turn.out.height * turn.out.width);
  return image::STOKER_ISA::band_plan(
      {.height = turn.out.height,
       .work = pixels,
       .grain = std::size_t{1} << 14,
       .cost_ns = static_cast<double>(pixels) * (turn.nearest ? 2.0 : 5.0)},
      [turn](const CpuArgs& args, std::byte*, SliceRange rows) {
        const Sampler<T, Channels> sampler{turn, args.in<T>(0)};
        for (std::size_t y = rows.begin; y < rows.end; ++y) {
          const auto row = static_cast<std::int64_t>(y);
          T* const to = args.out<T>() + row * turn.out.row();
          if (turn.nearest)
            sampler.nearest_row(row, to);
          else
            sampler.bilinear_row(row, to);
        }
      });
}

template <class T> Result<CpuPlan> plan_of(const KernelCall& call) {
  STOKER_ASSIGN(const Turn all, turn(call));
  switch (all.in.channels) {
    case 3: return plan_for<T, 3>(all);
    case 4: return plan_for<T, 4>(all);
    default: return plan_for<T, 1>(all);
  }
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return image::STOKER_ISA::by_dtype(call.dtype(), [&]<class T>() { return plan_of<T>(call); });
}

}  // namespace

void implement(CpuTable& table) { table.set("rotate", plan); }

}  // namespace stoker::kernels::rotate::STOKER_ISA
