#include <numeric>
#include <type_traits>

#include "stoker/kernels/cpu/accumulate.hpp"
#include "stoker/kernels/window_reduce/operation.hpp"
#include "stoker/kernels/window_reduce/plane_windows.hpp"

namespace stoker::kernels::window_reduce::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

// Results that are formed together, and elements of a row that are converted for them.
constexpr std::size_t block = 256;
constexpr std::int64_t stretch = 1024;
// Taps that pay for a slice.
constexpr std::size_t grain = std::size_t{32} << 10;

/// The units of a pass: blocks of a row where the axis is innermost, else whole lines of columns.
struct Units {
  explicit Units(const Pass& pass)
      : blocks{pass.inner == 1 ? (pass.axis.out + static_cast<std::int64_t>(block) - 1) /
                                     static_cast<std::int64_t>(block)
                               : pass.axis.out},
        count{static_cast<std::size_t>(pass.outer * blocks)} {}
  std::int64_t blocks;  // of one outer index
  std::size_t count;
};

template <class Op, class A, class S> class Reducer {
 public:
  explicit Reducer(const Pass& pass) : pass_{pass}, axis_{pass.axis} {}

  /// Computes one unit; `leave(first, values, n)` takes n results from `first` on.
  template <class Leave> void run(const S* x, std::size_t unit, Leave&& leave) const {
    const Units units{pass_};
    const auto index = static_cast<std::int64_t>(unit);
    const std::int64_t outer = index / units.blocks;
    const S* from = x + outer * axis_.in * pass_.inner;
    if (pass_.inner > 1) {
      columns(from, index % units.blocks, index * pass_.inner, leave);
      return;
    }
    const std::int64_t begin = index % units.blocks * static_cast<std::int64_t>(block);
    const std::int64_t end = std::min(begin + static_cast<std::int64_t>(block), axis_.out);
    alignas(64) A sums[block];
    row(from, begin, end, sums);
    leave(outer * axis_.out + begin, sums, static_cast<std::size_t>(end - begin));
  }

 private:
  template <class Leave>
  void columns(const S* x, std::int64_t r, std::int64_t to, Leave&& leave) const {
    alignas(64) A sums[block];
    alignas(64) A wide[std::is_same_v<S, A> ? 1 : block];
    const auto inner = static_cast<std::size_t>(pass_.inner);
    for (std::size_t column = 0; column < inner; column += block) {
      const std::size_t n = std::min(block, inner - column);
      std::fill_n(sums, n, Op::template identity<A>());
      for (std::int64_t tap = first_tap(r); tap < axis_.window; ++tap) {
        const std::int64_t place = r * axis_.stride - axis_.low + tap * axis_.window_dilation;
        if (place > (axis_.in - 1) * axis_.base_dilation) break;
        if (axis_.base_dilation > 1 && place % axis_.base_dilation != 0) continue;
        const S* line = x + place / axis_.base_dilation * pass_.inner + column;
        const A* values = wide;
        if constexpr (std::is_same_v<S, A>)
          values = line;
        else
          cpu::load_block(line, wide, n);
        for (std::size_t j = 0; j < n; ++j)
          sums[j] = static_cast<A>(Op::combine(sums[j], values[j]));
      }
      leave(to + static_cast<std::int64_t>(column), sums, n);
    }
  }

  /// The first tap of result `r` that is not in the padding before the operand: windows may be much longer than it.
  [[nodiscard]] std::int64_t first_tap(std::int64_t r) const noexcept {
    const std::int64_t place = r * axis_.stride - axis_.low;
    return place < 0 ? (-place + axis_.window_dilation - 1) / axis_.window_dilation : 0;
  }

  /// Results [begin, end) of a row, tap by tap, so that neighbours are formed side by side.
  void row(const S* x, std::int64_t begin, std::int64_t end, A* sums) const {
    std::fill_n(sums, end - begin, Op::template identity<A>());
    if (axis_.in == 0) return;
    const std::int64_t lowest = begin * axis_.stride - axis_.low;
    const std::int64_t highest =
        (end - 1) * axis_.stride - axis_.low + (axis_.window - 1) * axis_.window_dilation;
    const std::int64_t first = std::max<std::int64_t>(lowest / axis_.base_dilation, 0);
    const std::int64_t last = std::min(highest / axis_.base_dilation, axis_.in - 1);
    alignas(64) A wide[std::is_same_v<S, A> ? 1 : stretch];
    if constexpr (std::is_same_v<S, A>) {
      taps(x, 0, begin, end, sums);
    } else if (last - first < stretch) {
      if (last < first) return;
      cpu::load_block(x + first, wide, static_cast<std::size_t>(last - first + 1));
      taps(wide, first, begin, end, sums);
    } else if (end - begin > 1) {
      // Too far apart to be converted at once.
      const std::int64_t middle = (begin + end) / 2;
      row(x, begin, middle, sums);
      row(x, middle, end, sums + (middle - begin));
    } else {
      for (std::int64_t tap = first_tap(begin); tap < axis_.window; ++tap) {
        const std::int64_t place = lowest + tap * axis_.window_dilation;
        if (place % axis_.base_dilation != 0) continue;
        if (place / axis_.base_dilation >= axis_.in) break;
        A value;
        cpu::load_block(x + place / axis_.base_dilation, &value, 1);
        *sums = static_cast<A>(Op::combine(*sums, value));
      }
    }
  }

  /// `x` begins with the row's element `first`.
  void taps(const A* x, std::int64_t first, std::int64_t begin, std::int64_t end, A* sums) const {
    const auto [in, out, window, stride, low, dilation, base] = axis_;
    // Results whose tap meets an element are this far apart.
    const std::int64_t period = base / std::gcd(stride, base);
    for (std::int64_t tap = first_tap(end - 1); tap < window; ++tap) {
      const std::int64_t offset = tap * dilation - low;  // the place of result 0's tap
      std::int64_t from = std::max(begin, offset < 0 ? (-offset + stride - 1) / stride : 0);
      const std::int64_t highest = (in - 1) * base - offset;
      if (highest < 0) break;
      const std::int64_t to = std::min(end, highest / stride + 1);
      for (std::int64_t k = 0; base > 1 && k < period && (from * stride + offset) % base != 0; ++k)
        ++from;
      if (from >= to || (from * stride + offset) % base != 0) continue;
      const A* source = x + (from * stride + offset) / base - first;
      A* into = sums + (from - begin);
      const auto n = static_cast<std::size_t>((to - from + period - 1) / period);
      const auto step = static_cast<std::size_t>(period * stride / base);
      if (period > 1)
        spread(source, step, into, static_cast<std::size_t>(period), n);
      else if (step == 1)
        spread(source, std::integral_constant<std::size_t, 1>{}, into, one, n);
      else if (step == 2)
        spread(source, std::integral_constant<std::size_t, 2>{}, into, one, n);
      else
        spread(source, step, into, one, n);
    }
  }

  static constexpr std::integral_constant<std::size_t, 1> one{};

  template <class From, class To>
  static void spread(const A* source, From step, A* into, To period, std::size_t n) noexcept {
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i)
      into[i * period] = static_cast<A>(Op::combine(into[i * period], source[i * step]));
  }

  Pass pass_;
  WindowAxis axis_;
};

template <class Op, class A, class S, class D>
void run_pass(const Pass& pass, const S* x, D* y, std::size_t begin, std::size_t end) {
  const Reducer<Op, A, S> reducer{pass};
  for (std::size_t unit = begin; unit < end; ++unit)
    reducer.run(x, unit, [&](std::int64_t first, const A* values, std::size_t n) {
      if constexpr (std::is_same_v<D, A>)
        std::copy_n(values, n, y + first);
      else
        cpu::store_block(values, y + first, n);
    });
}

/// Runs units of pass `i` of `all`: from the input or `left`, to the output or `right`.
template <class Op, class A, class T>
void run_one(const std::vector<Pass>& all, std::size_t i, const T* x, T* y, const A* left, A* right,
             std::size_t begin, std::size_t end) {
  const bool last = i + 1 == all.size();
  if (i == 0)
    last ? run_pass<Op, A>(all[i], x, y, begin, end)
         : run_pass<Op, A>(all[i], x, right, begin, end);
  else
    last ? run_pass<Op, A>(all[i], left, y, begin, end)
         : run_pass<Op, A>(all[i], left, right, begin, end);
}

std::size_t room_of(const std::vector<Pass>& all, std::size_t element) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) most = std::max(most, all[i].results());
  return (static_cast<std::size_t>(most) * element + 63) / 64 * 64;
}

/// Many independent parts: each slice runs all passes over one part after the other, and what lies
/// between the passes stays in its cache.
template <class Op, class A, class T>
CpuPlan by_parts(std::vector<Pass> all, std::int64_t parts, std::uint32_t slices) {
  for (Pass& pass : all) pass.outer /= parts;
  const std::size_t room = room_of(all, sizeof(A));
  const Pass& head = all.front();
  const std::int64_t in = head.outer * head.axis.in * head.inner;
  const std::int64_t out = all.back().results();
  CpuPlan plan;
  plan.scratch_bytes = 2 * room * slices;
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         const auto buffer = [&](std::size_t i) {
           return reinterpret_cast<A*>(args.scratch + (2 * index + i % 2) * room);
         };
         const SliceRange range = slice_range(static_cast<std::size_t>(parts), slices, index, 1);
         for (std::size_t part = range.begin; part < range.end; ++part)
           for (std::size_t i = 0; i < all.size(); ++i)
             run_one<Op, A, T>(all, i, args.in<T>(0) + static_cast<std::int64_t>(part) * in,
                               args.out<T>() + static_cast<std::int64_t>(part) * out, buffer(i + 1),
                               buffer(i), 0, Units{all[i]}.count);
       }});
  return plan;
}

/// One pass after the other over everything.
template <class Op, class A, class T> CpuPlan by_passes(const std::vector<Pass>& all) {
  const std::size_t room = room_of(all, sizeof(A));
  CpuPlan plan;
  plan.scratch_bytes = 2 * room;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t units = Units{all[i]}.count;
    const std::size_t work =
        static_cast<std::size_t>(all[i].results()) * static_cast<std::size_t>(all[i].axis.window);
    const auto slices =
        static_cast<std::uint32_t>(std::min<std::size_t>(slice_count(work, grain), units));
    plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                             const auto buffer = [&](std::size_t k) {
                               return reinterpret_cast<A*>(args.scratch + k % 2 * room);
                             };
                             const SliceRange range = slice_range(units, slices, index, 1);
                             run_one<Op, A, T>(all, i, args.in<T>(0), args.out<T>(), buffer(i + 1),
                                               buffer(i), range.begin, range.end);
                           }});
  }
  return plan;
}

/// Windows over rows and columns, all of a window at once.
template <class Op, class A> CpuPlan by_planes(const PlaneWindows& windows) {
  constexpr std::size_t fast_grain = 8 * grain;
  const std::size_t units = windows.units();
  const auto slices = static_cast<std::uint32_t>(std::min<std::size_t>(
      slice_count(static_cast<std::size_t>(windows.work()), fast_grain), units));
  CpuPlan plan;
  plan.scratch_bytes = windows.scratch() * sizeof(A) * slices;
  plan.cost_ns = 100 + windows.work() * 0.05;
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         A* lines = reinterpret_cast<A*>(args.scratch) + windows.scratch() * index;
         const SliceRange range = slice_range(units, slices, index, 1);
         windows.prepare<Op>(lines);
         windows.run<Op>(args.in<A>(0), args.out<A>(), range.begin, range.end, lines);
       }});
  return plan;
}

template <class Op, class A, class T> CpuPlan make_plan(const std::vector<WindowAxis>& axes) {
  if constexpr (std::is_same_v<T, A> && (std::is_same_v<T, float> || sizeof(T) == 1))
    if (const auto windows = PlaneWindows::find<A>(axes)) return by_planes<Op, A>(*windows);
  const std::vector<Pass> all = passes(axes);
  double work = 0;
  for (const Pass& pass : all)
    work += static_cast<double>(pass.results()) * static_cast<double>(pass.axis.window);
  std::int64_t parts = 1;
  for (std::size_t i = 0; i < axes.size() && axes[i].trivial(); ++i) parts *= axes[i].in;
  const std::uint32_t slices = slice_count(static_cast<std::size_t>(work), grain);
  CpuPlan plan = all.size() > 1 && parts >= slices ? by_parts<Op, A, T>(all, parts, slices)
                                                   : by_passes<Op, A, T>(all);
  plan.cost_ns = 100 + work * 0.3;
  return plan;
}

template <class Op> Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const std::vector<WindowAxis> axes, call_axes("window_reduce", call));
  return cpu::plan_numeric<Op>(call.dtype(),
                               [&]<class A, class T>() { return make_plan<Op, A, T>(axes); });
}

}  // namespace

void implement(CpuTable& table) {
  table.set("window_sum", &plan<cpu::Sum>);
  table.set("window_product", &plan<cpu::Product>);
  table.set("window_max", &plan<cpu::Max>);
  table.set("window_min", &plan<cpu::Min>);
}

}  // namespace stoker::kernels::window_reduce::STOKER_ISA
