// Bytes are compared as bytes, whole registers at once; floats as floats.
#include "stoker/kernels/image/by_dtype.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/image/lanes.hpp"
#include "stoker/kernels/image/pointwise.hpp"
#include "stoker/kernels/threshold/levels.hpp"

namespace stoker::kernels::threshold::STOKER_ISA {
namespace {

using namespace image::STOKER_ISA;

typedef std::uint8_t Bytes [[gnu::vector_size(vector_bytes)]];

template <class Vector> [[gnu::always_inline]] inline Vector all_of(float value) noexcept {
  Vector vector;
  using Element = std::remove_cvref_t<decltype(vector[0])>;
  for (std::size_t i = 0; i < sizeof vector / sizeof vector[0]; ++i)
    vector[i] = static_cast<Element>(value);
  return vector;
}

/// What a vector becomes; with alpha, every fourth element is left alone. Vectors begin at multiples of
/// four elements.
template <class Vector, bool KeepsAbove, bool KeepsBelow> struct Choice {
  using Mask = decltype(Vector{} > Vector{});
  Vector cut;
  Vector above;
  Vector below;
  Mask is_alpha;

  Choice(const Levels& all, bool alpha) noexcept
      : cut{all_of<Vector>(all.cut)},
        above{all_of<Vector>(all.above)},
        below{all_of<Vector>(all.below)} {
    for (std::size_t i = 0; i < sizeof(Vector) / sizeof cut[0]; ++i)
      is_alpha[i] = alpha && i % 4 == 3 ? -1 : 0;
  }

  [[gnu::always_inline]] Vector operator()(Vector x) const noexcept {
    const Vector high = KeepsAbove ? x : above;
    const Vector low = KeepsBelow ? x : below;
    const Vector value = x > cut ? high : low;
    return is_alpha ? x : value;
  }
};

template <class T, bool KeepsAbove, bool KeepsBelow> struct Row {
  static constexpr bool as_bytes = std::is_same_v<T, std::uint8_t>;
  Choice<std::conditional_t<as_bytes, Bytes, Floats>, KeepsAbove, KeepsBelow> choice;

  void apply(const T* from, T* to, std::size_t n) const noexcept {
    if constexpr (as_bytes)
      over_row<vector_bytes, 2>(n, [&](auto blocks, std::size_t start, auto part) {
        for (std::size_t i = start; i < start + blocks() * vector_bytes; i += vector_bytes)
          store_raw(to + i, choice(load_raw<Bytes>(from + i, part)), part);
      });
    else
      over_row<lanes, 4>(n, [&](auto blocks, std::size_t start, auto part) {
        for (std::size_t i = start; i < start + blocks() * lanes; i += lanes)
          store(to + i, choice(load(from + i, part)), part);
      });
  }
};

template <class T, bool KeepsAbove, bool KeepsBelow>
CpuPlan plan_for(const KernelCall& call, const Levels& all) {
  const bool alpha = image::extent(call.shape()).has_alpha();
  return pointwise_plan<T>(call, Row<T, KeepsAbove, KeepsBelow>{{all, alpha}},
                           (std::size_t{1} << 17) / sizeof(T), 0.05 * sizeof(T));
}

template <class T> CpuPlan plan_for(const KernelCall& call) {
  const Levels all = levels(call);
  if (all.keeps_above && all.keeps_below) return plan_for<T, true, true>(call, all);
  if (all.keeps_above) return plan_for<T, true, false>(call, all);
  if (all.keeps_below) return plan_for<T, false, true>(call, all);
  return plan_for<T, false, false>(call, all);
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  return by_dtype(call.dtype(), [&]<class T>() { return plan_for<T>(call); });
}

}  // namespace

void implement(CpuTable& table) { table.set("threshold", plan); }

}  // namespace stoker::kernels::threshold::STOKER_ISA
