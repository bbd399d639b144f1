#include "stoker/kernels/gather/rows.hpp"
#include "stoker/kernels/take/axis.hpp"

namespace stoker::kernels::take::STOKER_ISA {
namespace {

namespace indexing_isa = stoker::indexing::STOKER_ISA;

Result<CpuPlan> plan_take(const KernelCall& call, std::span<const TensorSpec> outputs) {
  STOKER_ASSIGN(const std::size_t axis, axis_of<Take>(call));
  return gather::STOKER_ISA::rows_plan(indexing::lookup_along(call.shape(0), call.shape(1), axis),
                                       call.dtype(1), outputs[0]);
}

/// y[o, k, i] = x[o, indices[o, k, i], i] in pieces of one k each. Pieces that share a few columns i
/// follow each other: what they read of x stays in the cache.
struct Along {
  static constexpr std::size_t piece_elements = 256;
  static constexpr std::size_t columns = 64;

  indexing_isa::Offsets offsets;
  indexing::Lookup entry;  ///< one index: its place along the axis
  std::size_t outer;
  std::size_t inner;
  std::size_t taken;   ///< entries along the axis in y
  std::int64_t block;  ///< elements of x for one o

  /// Pieces for one o: across the columns, or with one column along the axis.
  [[nodiscard]] std::size_t pieces() const noexcept {
    if (inner == 1) return (taken + piece_elements - 1) / piece_elements;
    return (inner + columns - 1) / columns * taken;
  }

  template <class T> void run(const CpuArgs& args, SliceRange range) const {
    for (std::size_t item = range.begin; item < range.end; ++item) {
      const std::size_t o = item / pieces();
      const std::size_t piece = item - o * pieces();
      const T* x = args.in<T>(0) + static_cast<std::int64_t>(o) * block;
      if (inner == 1) {
        const std::size_t k = piece * piece_elements;
        move<T>(args, x, 0, o * taken + k, std::min(piece_elements, taken - k));
        continue;
      }
      const std::size_t column = piece / taken * columns;
      const std::size_t k = piece % taken;
      move<T>(args, x + column, 1, (o * taken + k) * inner + column,
              std::min(columns, inner - column));
    }
  }

 private:
  /// n elements of y from `first` on; each lies `step` behind the one before within its row of x.
  template <class T>
  void move(const CpuArgs& args, const T* x, std::int64_t step, std::size_t first,
            std::size_t n) const {
    std::int64_t starts[piece_elements];
    offsets(args.inputs[1], entry, first, n, starts);
    T* y = args.out<T>() + first;
    for (std::size_t i = 0; i < n; ++i) y[i] = x[starts[i] + static_cast<std::int64_t>(i) * step];
  }
};

Result<CpuPlan> plan_along(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const Shape& x = call.shape(0);
  STOKER_ASSIGN(const std::size_t axis, axis_of<TakeAlongAxis>(call));
  Along along;
  along.offsets = indexing_isa::offsets_of(call.dtype(1));
  along.entry.coordinates = 1;
  along.entry.extents[0] = x[axis];
  along.entry.strides[0] = x.strides()[axis];
  along.outer = 1;
  for (std::size_t before = 0; before < axis; ++before)
    along.outer *= static_cast<std::size_t>(x[before]);
  along.inner = static_cast<std::size_t>(x.strides()[axis]);
  along.taken = static_cast<std::size_t>(outputs[0].shape[axis]);
  along.block = x[axis] * x.strides()[axis];
  const std::size_t n = outputs[0].elements();
  const std::size_t items = along.outer * along.pieces();
  const auto slices = static_cast<std::uint32_t>(
      std::min<std::size_t>(slice_count(n, std::size_t{16} << 10), items));
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(n) * 2;
  indexing_isa::visit_bits(size_of(call.dtype()), [&]<class T>() {
    plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                             along.run<T>(args, slice_range(items, slices, index, 1));
                           }});
  });
  return plan;
}

}  // namespace

void implement(CpuTable& table) {
  table.set("take", &plan_take);
  table.set("take_along_axis", &plan_along);
}

}  // namespace stoker::kernels::take::STOKER_ISA
