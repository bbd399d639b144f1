#include <array>
#include <type_traits>

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/window_scatter/scatter.hpp"
#include "stoker/kernels/window_scatter/side_by_side.hpp"

namespace stoker::kernels::window_scatter::STOKER_ISA {
namespace {

using window_reduce::WindowAxis;

// Elements that pay for a slice.
constexpr std::size_t grain = std::size_t{16} << 10;
constexpr std::int64_t none = -1;

using Numbers = std::array<std::int64_t, Shape::max_rank>;

/// A box of offsets that are met in row-major order: `count` of them along each axis, `step` apart.
struct Box {
  std::int64_t base = 0;
  Numbers count{};
  Numbers step{};

  /// Calls body(offset, n) for each run of n offsets that lie `step` of the last axis apart, until it
  /// returns false.
  template <class Body> void for_runs(std::size_t rank, Body&& body) const {
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (count[axis] <= 0) return;
    Numbers at{};
    std::int64_t offset = base;
    while (body(offset, count[rank - 1])) {
      std::size_t axis = rank - 1;
      for (; axis > 0; --axis) {
        offset += step[axis - 1];
        if (++at[axis - 1] < count[axis - 1]) break;
        offset -= step[axis - 1] * count[axis - 1];
        at[axis - 1] = 0;
      }
      if (axis == 0) return;
    }
  }
};

struct Problem {
  std::size_t rank = 0;
  std::array<WindowAxis, Shape::max_rank> axes{};
  Numbers in_strides{};
  Numbers out_strides{};
  std::size_t elements = 1;
  std::size_t windows = 1;

  explicit Problem(const std::vector<WindowAxis>& list) : rank{list.size()} {
    std::int64_t in = 1, out = 1;
    for (std::size_t axis = rank; axis-- > 0;) {
      axes[axis] = list[axis];
      in_strides[axis] = in;
      out_strides[axis] = out;
      in *= list[axis].in;
      out *= list[axis].out;
    }
    elements = static_cast<std::size_t>(in);
    windows = static_cast<std::size_t>(out);
  }
};

/// Coordinates that are counted up element by element, which is cheaper than dividing each time.
class Counter {
 public:
  Counter(const Problem& p, const Numbers& strides, std::int64_t WindowAxis::*extent,
          std::size_t first)
      : p_{p}, extent_{extent} {
    auto rest = static_cast<std::int64_t>(first);
    for (std::size_t axis = 0; axis < p.rank; ++axis) {
      at_[axis] = rest / strides[axis];
      rest %= strides[axis];
    }
  }
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const noexcept { return at_[axis]; }
  /// Returns the outermost axis that has another coordinate than before.
  std::size_t advance() noexcept {
    std::size_t axis = p_.rank - 1;
    while (++at_[axis] == p_.axes[axis].*extent_ && axis > 0) at_[axis--] = 0;
    return axis;
  }

 private:
  const Problem& p_;
  std::int64_t WindowAxis::*extent_;
  Numbers at_{};
};

template <class T> inline cpu::Compute<T> value(const T& element) noexcept {
  if constexpr (std::is_same_v<T, Half>)
    return cpu::half_to_float(element.bits);
  else
    return static_cast<cpu::Compute<T>>(element);
}

/// Where windows [range) have their extremes: offsets in x, or `none`.
template <bool Smallest, class T>
void choose(const Problem& p, const T* x, SliceRange range, std::int64_t* chosen) {
  using C = cpu::Compute<T>;
  Counter window{p, p.out_strides, &WindowAxis::out, range.begin};
  Box box;
  Numbers base{};  // of the box, by axis
  std::size_t changed = 0;
  for (std::size_t w = range.begin; w < range.end; ++w) {
    for (std::size_t axis = changed; axis < p.rank; ++axis) {
      const WindowAxis& a = p.axes[axis];
      const std::int64_t begin = window[axis] * a.stride - a.low;
      const std::int64_t first = std::max<std::int64_t>(begin, 0);
      box.count[axis] = std::min(begin + a.window, a.in) - first;
      box.step[axis] = p.in_strides[axis];
      base[axis] = (axis > 0 ? base[axis - 1] : 0) + first * p.in_strides[axis];
    }
    box.base = base[p.rank - 1];
    std::int64_t best_at = none;
    C best{};
    box.for_runs(p.rank, [&](std::int64_t offset, std::int64_t n) {
      const std::int64_t step = box.step[p.rank - 1];
      if (best_at == none) {
        best = value(x[offset]);
        best_at = offset;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        const C v = value(x[offset + i * step]);
        const bool better = Smallest ? v < best : v > best;
        if (better | ((v != v) & (best == best))) {
          best = v;
          best_at = offset + i * step;
        }
      }
      return best == best;
    });
    chosen[w] = best_at;
    changed = window.advance();
  }
}

/// y = init plus the sources of the windows that chose each element of the range.
template <class T>
void add(const Problem& p, const T* source, const T* init, const std::int64_t* chosen,
         SliceRange range, T* y) {
  using C = cpu::Compute<T>;
  // Sums wrap, so signed ones are formed unsigned.
  using Sum = typename std::conditional_t<std::is_integral_v<C>, std::make_unsigned<C>,
                                          std::type_identity<C>>::type;
  Counter place{p, p.in_strides, &WindowAxis::in, range.begin};
  Box box;
  Numbers base{};
  std::size_t changed = 0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    for (std::size_t axis = changed; axis < p.rank; ++axis) {
      const WindowAxis& a = p.axes[axis];
      const std::int64_t at = place[axis] + a.low;
      std::int64_t first = at, end = at + 1;
      if (a.stride > 1 || a.window > 1) {
        first = at >= a.window ? (at - a.window) / a.stride + 1 : 0;
        end = at / a.stride + 1;
      }
      box.count[axis] = std::min(end, a.out) - first;
      box.step[axis] = p.out_strides[axis];
      base[axis] = (axis > 0 ? base[axis - 1] : 0) + first * p.out_strides[axis];
    }
    box.base = base[p.rank - 1];
    Sum sum = static_cast<Sum>(value(*init));
    box.for_runs(p.rank, [&](std::int64_t w, std::int64_t n) {
      const std::int64_t step = box.step[p.rank - 1];
      for (std::int64_t k = 0; k < n; ++k, w += step)
        if (chosen[w] == static_cast<std::int64_t>(i))
          sum = static_cast<Sum>(sum + static_cast<Sum>(value(source[w])));
      return true;
    });
    const auto result = static_cast<C>(sum);
    cpu::store_block(&result, y + i, 1);
    changed = place.advance();
  }
}

template <bool Smallest, class T> CpuPlan make_plan(const Problem& p) {
  CpuPlan plan;
  plan.scratch_bytes = p.windows * sizeof(std::int64_t);
  plan.cost_ns = 100 + static_cast<double>(p.elements) * 6;
  const auto chosen = [](const CpuArgs& args) {
    return reinterpret_cast<std::int64_t*>(args.scratch);
  };
  const std::uint32_t slices = slice_count(p.elements, grain);
  if (p.windows > 0)
    plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                             const SliceRange range = slice_range(p.windows, slices, index);
                             if (range.begin < range.end)
                               choose<Smallest>(p, args.in<T>(0), range, chosen(args));
                           }});
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(p.elements, slices, index);
                           if (range.begin < range.end)
                             add(p, args.in<T>(1), args.in<T>(2), chosen(args), range,
                                 args.out<T>());
                         }});
  return plan;
}

template <bool Smallest> Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const std::vector<WindowAxis> axes, scatter_axes("window_scatter", call));
  const Problem p{axes};
  return visit_dtype(call.dtype(), [&]<class T>() -> CpuPlan {
    if constexpr (std::is_same_v<T, bool>)
      return {};
    else if (SideBySide<Smallest, T>::fits(axes))
      return side_by_side_plan<Smallest, T>(axes);
    else
      return make_plan<Smallest, T>(p);
  });
}

}  // namespace

void implement(CpuTable& table) {
  table.set("window_scatter_max", &plan<false>);
  table.set("window_scatter_min", &plan<true>);
}

}  // namespace stoker::kernels::window_scatter::STOKER_ISA
