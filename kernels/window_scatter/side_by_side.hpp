// Windows that neither overlap nor hang over an edge, as in most pooling: each element belongs to one
// window at most, so both steps are one, and windows that are neighbours along the last axis are
// treated side by side.
//
// Compiled once per instruction set: everything lives in a namespace of that set's name.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/window_reduce/geometry.hpp"

namespace stoker::kernels::window_scatter::STOKER_ISA {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

template <bool Smallest, class T> class SideBySide {
 public:
  using Axes = std::vector<window_reduce::WindowAxis>;
  using C = cpu::Compute<T>;

  [[nodiscard]] static bool fits(const Axes& axes) noexcept {
    std::int64_t taps = 1;
    for (const window_reduce::WindowAxis& a : axes)
      if ((taps *= a.window) > most_taps || a.low != 0 || a.window > a.stride || a.out == 0 ||
          (a.out - 1) * a.stride + a.window > a.in)
        return false;
    return !axes.empty();
  }

  explicit SideBySide(const Axes& axes) : axes_{axes}, last_{axes.back()} {
    // Offsets of a window's elements in row-major order.
    offsets_ = {0};
    for (std::size_t axis = axes.size(), stride = 1; axis-- > 0;) {
      std::vector<std::int64_t> all;
      for (std::int64_t i = 0; i < axes[axis].window; ++i)
        for (const std::int64_t inner : offsets_)
          all.push_back(i * static_cast<std::int64_t>(stride) + inner);
      offsets_ = std::move(all);
      stride *= static_cast<std::size_t>(axes[axis].in);
      covered_ = covered_ && axes[axis].out * axes[axis].window == axes[axis].in;
      elements_ *= static_cast<std::size_t>(axes[axis].in);
      if (axis + 1 < axes.size()) rows_ *= static_cast<std::size_t>(axes[axis].out);
    }
  }

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t elements() const noexcept { return elements_; }
  /// Every element is in a window; else what is not must be filled before.
  [[nodiscard]] bool covered() const noexcept { return covered_; }

  /// Windows of row `row`, which are neighbours along the last axis.
  void run(const T* x, const T* source, T init, T* y, std::size_t row) const noexcept {
    std::int64_t rest = static_cast<std::int64_t>(row), at = 0, stride = last_.in;
    for (std::size_t axis = axes_.size() - 1; axis-- > 0;) {
      at += rest % axes_[axis].out * axes_[axis].stride * stride;
      rest /= axes_[axis].out;
      stride *= axes_[axis].in;
    }
    source += static_cast<std::int64_t>(row) * last_.out;
    for (std::int64_t first = 0; first < last_.out; first += block) {
      const std::int64_t n = std::min(block, last_.out - first);
      const std::int64_t from = at + first * last_.stride;
      if (last_.stride == 1)
        several(x + from, source + first, init, y + from, n, one);
      else if (last_.stride == 2)
        several(x + from, source + first, init, y + from, n, two);
      else
        several(x + from, source + first, init, y + from, n, last_.stride);
    }
  }

 private:
  static constexpr std::int64_t block = 256;
  static constexpr std::int64_t most_taps = 4096;  // longer windows have no neighbours to speak of
  static constexpr std::integral_constant<std::int64_t, 1> one{};
  static constexpr std::integral_constant<std::int64_t, 2> two{};
  // As wide as an element, so that the choice of both is one mask.
  using Tap = std::conditional_t<sizeof(C) == 8, std::int64_t,
                                 std::conditional_t<sizeof(C) == 4, std::int32_t, std::uint16_t>>;

  static C value(const T& element) noexcept {
    if constexpr (std::is_same_v<T, Half>)
      return cpu::half_to_float(element.bits);
    else
      return static_cast<C>(element);
  }

  template <class Step>
  void several(const T* x, const T* source, T init, T* y, std::int64_t n,
               Step step) const noexcept {
    alignas(64) C best[block];
    alignas(64) Tap taken[block];
    for (std::int64_t j = 0; j < n; ++j) {
      best[j] = value(x[j * step]);
      taken[j] = 0;
    }
    for (std::size_t tap = 1; tap < offsets_.size(); ++tap) {
      const T* line = x + offsets_[tap];
      const auto number = static_cast<Tap>(tap);
      for (std::int64_t j = 0; j < n; ++j) {
        const C v = value(line[j * step]);
        // The first extreme counts, and the first that is no number before all others.
        const bool better =
            (Smallest ? v < best[j] : v > best[j]) | ((v != v) & (best[j] == best[j]));
        best[j] = better ? v : best[j];
        taken[j] = better ? number : taken[j];
      }
    }
    // Sums wrap, so signed ones are formed unsigned.
    using Sum = typename std::conditional_t<std::is_integral_v<C>, std::make_unsigned<C>,
                                            std::type_identity<C>>::type;
    alignas(64) C sums[block];
    alignas(64) T given[block];
    const auto start = static_cast<Sum>(value(init));
    for (std::int64_t j = 0; j < n; ++j)
      sums[j] = static_cast<C>(static_cast<Sum>(start + static_cast<Sum>(value(source[j]))));
    cpu::store_block(static_cast<const C*>(sums), given, static_cast<std::size_t>(n));
    for (std::size_t tap = 0; tap < offsets_.size(); ++tap) {
      T* line = y + offsets_[tap];
      const auto number = static_cast<Tap>(tap);
      for (std::int64_t j = 0; j < n; ++j) line[j * step] = taken[j] == number ? given[j] : init;
    }
  }

  Axes axes_;
  window_reduce::WindowAxis last_;
  std::vector<std::int64_t> offsets_;
  std::size_t rows_ = 1;
  std::size_t elements_ = 1;
  bool covered_ = true;
};

/// Precondition: SideBySide::fits(axes).
template <bool Smallest, class T>
[[nodiscard]] CpuPlan side_by_side_plan(const std::vector<window_reduce::WindowAxis>& axes) {
  const SideBySide<Smallest, T> all{axes};
  CpuPlan plan;
  plan.cost_ns = 100 + static_cast<double>(all.elements()) * 0.8;
  const std::uint32_t fillers = slice_count(all.elements(), std::size_t{256} << 10);
  if (!all.covered())
    plan.stages.push_back(
        {fillers, [=, n = all.elements()](const CpuArgs& args, std::uint32_t index) {
           const SliceRange range = slice_range(n, fillers, index);
           std::fill(args.out<T>() + range.begin, args.out<T>() + range.end, *args.in<T>(2));
         }});
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(all.rows(), slice_count(all.elements(), std::size_t{64} << 10)));
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(all.rows(), slices, index, 1);
                           for (std::size_t row = range.begin; row < range.end; ++row)
                             all.run(args.in<T>(0), args.in<T>(1), *args.in<T>(2), args.out<T>(),
                                     row);
                         }});
  return plan;
}

}  // namespace stoker::kernels::window_scatter::STOKER_ISA
