// Windows over the rows and columns of images: what pools do.
//
// The rows of a window are combined first, in whole vectors, into a line of scratch memory that has the neutral
// element where the window hangs over; then neighbours of that line. Vectors read and write past the end of a row,
// into what is read or written next, but never past the end of the array or of what the slice writes. Windows of 2×2
// side by side without padding need no line.
//
// Compiled once per instruction set. Immutable and shared by the slices of a run.
#pragma once

#include <optional>
#include <type_traits>

#include "stoker/kernels/cpu/accumulate.hpp"
#include "stoker/kernels/window_reduce/geometry.hpp"

namespace stoker::kernels::window_reduce::STOKER_ISA {

/// An array [count, down.in, across.in, inner] and windows over its middle axes: inner is 1 for NCHW images, the
/// channels for NHWC ones.
class PlaneWindows {
 public:
  /// For elements of type A, which they are combined in. Nothing where other axes have windows, elements are
  /// spread out, or rows are too long for a line.
  template <class A>
  [[nodiscard]] static std::optional<PlaneWindows> find(std::span<const WindowAxis> axes) {
    PlaneWindows result;
    std::size_t last = axes.size();
    while (last > 0 && axes[last - 1].trivial()) result.inner_ *= axes[--last].in;
    if (last == 0) return std::nullopt;
    result.across_ = axes[last - 1];
    if (last > 1) result.down_ = axes[last - 2];
    for (std::size_t i = 0; i + 2 < last; ++i) {
      if (!axes[i].trivial()) return std::nullopt;
      result.count_ *= axes[i].in;
    }
    // Rows that no window joins are one plane.
    if (result.down_.trivial())
      result.down_.in = result.down_.out = result.down_.in * std::exchange(result.count_, 1);
    if (!result.fits()) return std::nullopt;
    result.plan_lines(static_cast<std::int64_t>(cpu::STOKER_ISA::lane_count<A>));
    return result;
  }

  /// Pieces of a plane that are computed on their own, in the order of the output.
  [[nodiscard]] std::size_t units() const noexcept {
    return static_cast<std::size_t>(count_ * pieces_);
  }
  /// Elements that are combined, about.
  [[nodiscard]] double work() const noexcept {
    return static_cast<double>(count_ * down_.out) *
           static_cast<double>(places_ * inner_ * down_.window +
                               across_.out * inner_ * across_.window);
  }
  /// Of each slice, in elements; what `prepare` has set stays as it is.
  [[nodiscard]] std::size_t scratch() const noexcept {
    return static_cast<std::size_t>(rows_ * step_);
  }
  template <class Op, class A> void prepare(A* lines) const noexcept {
    std::fill_n(lines, rows_ * step_, Op::template identity<A>());
  }
  template <class Op, class A>
  void run(const A* x, A* y, std::size_t begin, std::size_t end, A* lines) const noexcept {
    const std::int64_t in = down_.in * across_.in * inner_, row = across_.out * inner_;
    const A* x_end = x + count_ * in;
    const A* y_end = y + first_row(end) * row;
    for (std::size_t unit = begin; unit < end; ++unit) {
      const std::int64_t from = first_row(unit), rows = first_row(unit + 1) - from;
      const std::int64_t plane = static_cast<std::int64_t>(unit) / pieces_;
      if (halves_) {
        const A* top = x + plane * in + (from - plane * down_.out) * 2 * across_.in;
        for (std::int64_t r = 0; r < rows; ++r)
          take_halves<Op>(top + r * 2 * across_.in, x_end, y + (from + r) * row, y_end);
        continue;
      }
      // All lines first: what was just written in other pieces than it is read in is slow to read.
      for (std::int64_t r = 0; r < rows; ++r)
        make_line<Op>(x + plane * in, x_end, from - plane * down_.out + r, lines + r * step_);
      for (std::int64_t r = 0; r < rows; ++r)
        take_line<Op, A>(lines + r * step_, y + (from + r) * row, y_end);
    }
  }

 private:
  static constexpr std::int64_t longest_line = 1 << 15;
  static constexpr std::int64_t widest_stride = 8;
  static constexpr std::int64_t room =
      4096;  // elements of lines that stay in the first-level cache

  [[nodiscard]] bool fits() const noexcept {
    if (down_.base_dilation != 1 || across_.base_dilation != 1) return false;
    if (count_ * inner_ * down_.in * down_.out * across_.in * across_.out == 0) return false;
    if (inner_ > longest_line || across_.stride > widest_stride) return false;
    return across_.out <= longest_line && across_.window <= longest_line &&
           across_.window_dilation <= longest_line / across_.window &&
           (across_.out * across_.stride + across_.window * across_.window_dilation) * inner_ <=
               longest_line;
  }
  /// `lanes`: elements of a vector.
  void plan_lines(std::int64_t lanes) noexcept {
    const auto whole = [lanes](std::int64_t n) { return (n + lanes - 1) / lanes * lanes; };
    const std::int64_t reach = (across_.window - 1) * across_.window_dilation;
    places_ = (across_.out - 1) * across_.stride + reach + 1;
    left_ = std::min(across_.low, places_);
    width_ = std::min(across_.in, places_ - left_) * inner_;
    // What vectors read and write behind the last place belongs to the line, too.
    step_ = inner_ == 1 ? whole(across_.out) * across_.stride + reach : 0;
    step_ = whole(std::max(step_, places_ * inner_ + lanes));
    const auto halves = [](const WindowAxis& axis) {
      return axis.window == 2 && axis.stride == 2 && axis.window_dilation == 1 && axis.low == 0 &&
             2 * axis.out <= axis.in;
    };
    halves_ = inner_ == 1 && halves(down_) && halves(across_);
    rows_ = std::clamp<std::int64_t>(room / step_, 1, down_.out);
    pieces_ = (down_.out + rows_ - 1) / rows_;
  }
  /// Of the output, all planes counted.
  [[nodiscard]] std::int64_t first_row(std::size_t unit) const noexcept {
    const auto index = static_cast<std::int64_t>(unit);
    return index / pieces_ * down_.out + index % pieces_ * rows_;
  }

  /// A row of halves_: no line is needed, since no window hangs over or shares its elements.
  template <class Op, class A>
  void take_halves(const A* top, const A* x_end, A* y, const A* y_end) const noexcept {
    constexpr auto lanes = static_cast<std::int64_t>(cpu::STOKER_ISA::lane_count<A>);
    const A* const bottom = top + across_.in;
    const std::int64_t n = across_.out;
    const auto some = [&](std::int64_t j) {
      const auto both = [&](std::int64_t at) {
        return Op::combine(cpu::STOKER_ISA::load_lanes(top + at),
                           cpu::STOKER_ISA::load_lanes(bottom + at));
      };
      const auto a = both(2 * j), b = both(2 * j + lanes);
      const auto [even, odd] = dealt_out(a, b, std::make_index_sequence<lanes>{});
      store(Op::combine(even, odd), y + j);
    };
    if (n >= lanes) {
      for (std::int64_t j = 0; j < n; j += lanes) some(std::min(j, n - lanes));
    } else if (x_end - bottom >= 2 * lanes && y_end - y >= lanes) {
      some(0);
    } else {
      for (std::int64_t j = 0; j < n; ++j) {
        const auto both = [&](std::int64_t at) {
          return static_cast<A>(Op::combine(top[at], bottom[at]));
        };
        y[j] = static_cast<A>(Op::combine(both(2 * j), both(2 * j + 1)));
      }
    }
  }
  /// Every second element of both, from the first on and from the second on.
  template <class Lanes, std::size_t... I>
  static std::pair<Lanes, Lanes> dealt_out(const Lanes& a, const Lanes& b,
                                           std::index_sequence<I...>) noexcept {
    return {__builtin_shufflevector(a, b, (2 * I)...),
            __builtin_shufflevector(a, b, (2 * I + 1)...)};
  }

  /// The line of output row r.
  template <class Op, class A>
  void make_line(const A* plane, const A* end, std::int64_t r, A* line) const noexcept {
    const std::int64_t dilation = down_.window_dilation;
    std::int64_t top = r * down_.stride - down_.low;
    std::int64_t taps = down_.window;
    if (top < 0) {
      const std::int64_t above = std::min(taps, (-top + dilation - 1) / dilation);
      top += above * dilation;
      taps -= above;
    }
    if (taps > 0 && top + (taps - 1) * dilation >= down_.in)
      taps = top >= down_.in ? 0 : (down_.in - 1 - top) / dilation + 1;
    line += left_ * inner_;
    if (taps <= 0) {
      std::fill_n(line, width_, Op::template identity<A>());
      return;
    }
    const std::int64_t row = across_.in * inner_;
    const A* from = plane + top * row;
    const auto combine = [&](auto count) {
      combine_rows<Op>(from, row * dilation, count, end, line);
    };
    if (taps == 2)
      combine(std::integral_constant<std::int64_t, 2>{});
    else if (taps == 3)
      combine(std::integral_constant<std::int64_t, 3>{});
    else
      combine(taps);
  }
  template <class Op, class A, class Count>
  void combine_rows(const A* from, std::int64_t row, Count taps, const A* end,
                    A* to) const noexcept {
    using Lanes = cpu::STOKER_ISA::Lanes<A>;
    constexpr auto lanes = static_cast<std::int64_t>(cpu::STOKER_ISA::lane_count<A>);
    const auto column = [&](const A* at) {
      Lanes v = cpu::STOKER_ISA::load_lanes(at);
      for (std::int64_t tap = 1; tap < taps; ++tap)
        v = Op::combine(v, cpu::STOKER_ISA::load_lanes(at + tap * row));
      return v;
    };
    std::int64_t i = 0;
    for (; i + lanes <= width_; i += lanes) store(column(from + i), to + i);
    if (i == width_) return;
    const std::int64_t rest = width_ - i;
    Lanes v = cpu::STOKER_ISA::identity_lanes<Op, A>();
    if (end - (from + i + (taps - 1) * row) >= lanes) {
      const Lanes all = column(from + i);
      for (std::int64_t k = 0; k < lanes; ++k) v[k] = k < rest ? all[k] : v[k];
    } else {
      for (std::int64_t tap = 0; tap < taps; ++tap)
        for (std::int64_t k = 0; k < rest; ++k)
          v[k] = static_cast<A>(Op::combine(v[k], from[i + tap * row + k]));
    }
    store(v, to + i);
  }

  template <class Op, class A> void take_line(const A* line, A* y, const A* y_end) const noexcept {
    if (inner_ > 1) {
      for (std::int64_t j = 0; j < across_.out; ++j)
        take<Op, 1>(line + j * across_.stride * inner_, y + j * inner_, inner_, y_end);
      return;
    }
    switch (across_.stride) {
      case 1: return take<Op, 1>(line, y, across_.out, y_end);
      case 2: return take<Op, 2>(line, y, across_.out, y_end);
      case 3: return take<Op, 3>(line, y, across_.out, y_end);
      default: return take<Op, 0>(line, y, across_.out, y_end);
    }
  }
  /// n results; neighbours of one tap are `Stride` apart, 0: as far as the axis says.
  template <class Op, int Stride, class A>
  void take(const A* line, A* y, std::int64_t n, const A* y_end) const noexcept {
    constexpr auto lanes = static_cast<std::int64_t>(cpu::STOKER_ISA::lane_count<A>);
    const std::int64_t step = Stride == 0 ? across_.stride : Stride;
    for (std::int64_t j = 0; j < n; j += lanes) {
      const auto v = window<Op, Stride>(line + j * step);
      if (y_end - (y + j) >= lanes)
        store(v, y + j);
      else
        for (std::int64_t k = 0; k < std::min(lanes, n - j); ++k) y[j + k] = v[k];
    }
  }
  template <class Op, int Stride, class A> [[nodiscard]] auto window(const A* at) const noexcept {
    const std::int64_t step = across_.window_dilation * inner_;
    auto v = apart<Stride>(at);
    for (std::int64_t tap = 1; tap < across_.window; ++tap)
      v = Op::combine(v, apart<Stride>(at + tap * step));
    return v;
  }
  /// A vector of elements that are `Stride` apart.
  template <int Stride, class A>
  [[nodiscard]] cpu::STOKER_ISA::Lanes<A> apart(const A* at) const noexcept {
    constexpr std::size_t lanes = cpu::STOKER_ISA::lane_count<A>;
    if constexpr (Stride == 1) {
      return cpu::STOKER_ISA::load_lanes(at);
    } else if constexpr (Stride == 2) {
      const auto a = cpu::STOKER_ISA::load_lanes(at);
      const auto b = cpu::STOKER_ISA::load_lanes(at + lanes);
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return __builtin_shufflevector(a, b, (2 * I)...);
      }
      (std::make_index_sequence<lanes>{});
    } else {
      cpu::STOKER_ISA::Lanes<A> v{};
      const std::int64_t step = Stride == 0 ? across_.stride : Stride;
      for (std::size_t k = 0; k < lanes; ++k) v[k] = at[static_cast<std::int64_t>(k) * step];
      return v;
    }
  }
  template <class Lanes, class A> static void store(const Lanes& v, A* to) noexcept {
    std::memcpy(to, &v, sizeof v);
  }

  std::int64_t count_ = 1;
  WindowAxis down_, across_;
  std::int64_t inner_ = 1;
  std::int64_t places_ = 0;  // of a line
  std::int64_t left_ = 0;    // places of padding before its elements
  std::int64_t width_ = 0;   // elements that come from x
  std::int64_t step_ = 0;    // elements from line to line
  std::int64_t rows_ = 1;    // of the output, in a piece
  std::int64_t pieces_ = 1;  // of a plane
  bool halves_ = false;      // windows of 2 × 2 side by side, all of them inside
};

}  // namespace stoker::kernels::window_reduce::STOKER_ISA
