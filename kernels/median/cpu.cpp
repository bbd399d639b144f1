// Each column of 2 radius + 1 pixels is sorted once into as many padded lines, and the windows of a row
// then share these columns. What is left to find the middle is in networks.hpp.
#include <algorithm>
#include <utility>

#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/image/bands.hpp"
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/extremes.hpp"
#include "stoker/kernels/median/networks.hpp"
#include "stoker/kernels/median/options.hpp"

namespace stoker::kernels::median::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;
using image::Border;
using image::Extent;

struct Config {
  Extent extent;
  Border border;

  [[nodiscard]] std::size_t row() const noexcept { return static_cast<std::size_t>(extent.row()); }
};

template <class Vector>
[[gnu::always_inline]] inline void exchange(Vector& low, Vector& high) noexcept {
  const Vector least = min(low, high);
  high = max(low, high);
  low = least;
}

/// Runs a list of exchanges; all places are constants, so that the values stay in registers.
template <const auto& List, class Vector, std::size_t... I>
[[gnu::always_inline]] inline void run(Vector* values, std::index_sequence<I...>) noexcept {
  (exchange(values[List[I].low], values[List[I].high]), ...);
}
template <const auto& List, class Vector>
[[gnu::always_inline]] inline void run(Vector* values) noexcept {
  run<List>(values, std::make_index_sequence<List.size()>{});
}

template <std::size_t M> inline constexpr auto selection = select_middle<M>();

/// Puts `value`, entry (I, J) of the sorted window, where those are that may be in the middle.
template <std::size_t N, std::size_t I, std::size_t J, class Vector>
[[gnu::always_inline]] inline void put(Vector value, Vector* middle) noexcept {
  if constexpr (may_be_middle(N, I, J)) middle[candidates(N, I, J)] = value;
}

/// Row `Row` of the window whose left column begins at `from`, sorted.
template <std::size_t N, std::size_t Row, class Vector, class Line, std::size_t... J>
[[gnu::always_inline]] inline void add_row(const Line* from, std::size_t step, Vector* middle,
                                           std::index_sequence<J...>) noexcept {
  Vector row[N] = {load_raw<Vector>(from + J * step, Full{})...};
  run<sorting<N>>(row);
  (put<N, Row, J>(row[J], middle), ...);
}

/// The middle of N columns of pixels, `step` elements each, around element `at` of the sorted lines.
template <class Vector, class Line, std::size_t N, std::size_t... I>
[[gnu::always_inline]] inline Vector middle_of(Line* const (&lines)[N], std::size_t at,
                                               std::size_t step,
                                               std::index_sequence<I...> all) noexcept {
  constexpr std::size_t m = candidates(N, N);
  Vector middle[m];
  (add_row<N, I>(lines[I] + at - N / 2 * step, step, middle, all), ...);
  run<selection<m>>(middle);
  return middle[1];
}

template <class T, std::size_t N, std::size_t... I>
void band(const Config& config, const T* source, T* output, std::byte* scratch, SliceRange rows,
          std::index_sequence<I...> all) {
  using Own = Ordered<T>;
  using Vector = typename Own::Vector;
  constexpr auto radius = static_cast<std::int64_t>(N / 2);
  const LineScratch<T> layout{config.extent, radius, N};
  T* const zeros = reinterpret_cast<T*>(scratch);
  if (config.border == Border::constant) std::fill_n(zeros, config.row(), T{});
  typename Own::Line* const sorted[N] = {layout.line(scratch, I)...};
  const auto step = static_cast<std::size_t>(config.extent.channels);

  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    const auto top = static_cast<std::int64_t>(y) - radius;
    const T* const from[N] = {source_row(source, config.extent, config.border,
                                         top + static_cast<std::int64_t>(I), zeros)...};
    over_row<Own::step, 1>(config.row(), [&](auto, std::size_t i, auto part) {
      Vector column[N] = {Own::from(from[I] + i, part)...};
      run<sorting<N>>(column);
      (store_raw(sorted[I] + i, column[I], part), ...);
    });
    for (auto* line : sorted) pad_line(line, config.extent, config.border, radius);
    T* const to = output + y * config.row();
    over_row<Own::step, 1>(config.row(), [&](auto, std::size_t i, auto part) {
      Own::to(to + i, middle_of<Vector>(sorted, i, step, all), part);
    });
    if (config.extent.has_alpha())
      copy_alpha(to, from[N / 2], static_cast<std::size_t>(config.extent.width));
  }
}

template <class T, std::size_t N> CpuPlan plan_for(const Config& config) {
  const std::size_t values = static_cast<std::size_t>(config.extent.height) * config.row() * N * N;
  return band_plan(
      {.height = config.extent.height,
       .work = values,
       .grain = std::size_t{1} << 19,
       .scratch = LineScratch<T>{config.extent, N / 2, N}.bytes,
       .cost_ns = static_cast<double>(values * sizeof(typename Ordered<T>::Line)) * 0.02},
      [config](const CpuArgs& args, std::byte* scratch, SliceRange rows) {
        band<T, N>(config, args.in<T>(0), args.out<T>(), scratch, rows,
                   std::make_index_sequence<N>{});
      });
}

template <class T> CpuPlan plan_for(const Config& config, std::int64_t radius) {
  if (radius == 1) return plan_for<T, 3>(config);
  if (radius == 2) return plan_for<T, 5>(config);
  return plan_for<T, 7>(config);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  const auto given = options::from<Median>(call.params);
  const Config config{image::extent(call.shape()), given.border};
  return by_dtype(call.dtype(), [&]<class T>() { return plan_for<T>(config, given.radius); });
}

}  // namespace

void implement(CpuTable& table) { table.set("median", plan); }

}  // namespace stoker::kernels::median::STOKER_ISA
