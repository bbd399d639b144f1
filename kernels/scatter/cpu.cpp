#include <cmath>
#include <concepts>
#include <type_traits>

#include "stoker/kernels/cpu/copy_plan.hpp"
#include "stoker/kernels/indexing/offsets.hpp"
#include "stoker/kernels/indexing/runs.hpp"
#include "stoker/kernels/scatter/scatter.hpp"

namespace stoker::kernels::scatter::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;
namespace indexing_isa = stoker::indexing::STOKER_ISA;

/// to[i · step] = from[i].
struct Put {
  template <class T>
  static void apply(const T* from, T* to, std::int64_t step, std::size_t n) noexcept {
    if (step == 1)
      indexing_isa::move_dense(from, to, n, false);
    else
      for (std::size_t i = 0; i < n; ++i, to += step) *to = from[i];
  }
};

/// What is computed with T, without a sign for integers, which then wrap; not narrower than what products become.
template <class T> struct Wrapping {
  using Type = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;
};
template <std::floating_point T> struct Wrapping<T> { using Type = T; };

struct Sum {
  template <class T> static T of(T a, T b) noexcept {
    using Wide = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
  }
};
struct Product {
  template <class T> static T of(T a, T b) noexcept {
    using Wide = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  }
};
/// NaN spreads; -0 is below 0.
template <bool Larger> struct Extreme {
  template <class T> static T of(T a, T b) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return a + b;
      if (a == b) return std::signbit(a) == Larger ? b : a;
    }
    return (a < b) == Larger ? b : a;
  }
};

/// to[i · step] = Formula::of(to[i · step], from[i]).
template <class Formula> struct Combine {
  template <class T>
  static void apply(const T* from, T* to, std::int64_t step, std::size_t n) noexcept {
    if (step == 1 && n > 1)
      combine_dense(from, to, n);
    else
      for (std::size_t i = 0; i < n; ++i, to += step) combine_one(from[i], *to);
  }

 private:
  template <class T> static void combine_one(const T& from, T& to) noexcept {
    if constexpr (std::is_same_v<T, cpu::Compute<T>>) {
      to = Formula::of(to, from);
    } else {
      float old = 0;
      float given = 0;
      cpu::load_block(&to, &old, 1);
      cpu::load_block(&from, &given, 1);
      old = Formula::of(old, given);
      cpu::store_block(&old, &to, 1);
    }
  }

  template <class T> static void combine_dense(const T* from, T* to, std::size_t n) noexcept {
    if constexpr (std::is_same_v<T, cpu::Compute<T>>) {
#pragma GCC ivdep
      for (std::size_t i = 0; i < n; ++i) to[i] = Formula::of(to[i], from[i]);
    } else {
      alignas(64) float old[cpu::block_elements];
      alignas(64) float given[cpu::block_elements];
      for (std::size_t first = 0; first < n; first += cpu::block_elements) {
        const std::size_t count = std::min(cpu::block_elements, n - first);
        cpu::load_block(to + first, old, count);
        cpu::load_block(from + first, given, count);
        for (std::size_t i = 0; i < count; ++i) old[i] = Formula::of(old[i], given[i]);
        cpu::store_block(old, to + first, count);
      }
    }
  }
};

/// Applies the updates in the order of their vectors, whatever the number of slices: a slice owns
/// either some columns of every row, or all rows that begin in its part of the target.
template <class Operation, class T> struct Updates {
  indexing::Lookup lookup;
  std::size_t target;  ///< elements
  std::uint32_t slices;
  bool by_columns;

  void run(const CpuArgs& args, std::uint32_t index) const {
    // The stage before has left where every row begins.
    const auto* starts = reinterpret_cast<const std::int64_t*>(args.scratch);
    const auto row = static_cast<std::size_t>(lookup.row);
    const auto count = static_cast<std::size_t>(lookup.count);
    if (by_columns) {
      const SliceRange columns = slice_range(row, slices, index);
      for (std::size_t i = 0; i < count; ++i)
        apply(args.in<T>(2) + i * row, args.out<T>() + starts[i], columns);
      return;
    }
    if (slices == 1) {
      for (std::size_t i = 0; i < count; ++i)
        apply(args.in<T>(2) + i * row, args.out<T>() + starts[i], {0, row});
      return;
    }
    const SliceRange own = slice_range(target, slices, index, 1);
    // A branch for each update would be guessed wrong every other time; a list needs none.
    constexpr std::size_t block = 256;
    std::size_t mine[block];
    for (std::size_t first = 0; first < count; first += block) {
      std::size_t found = 0;
      for (std::size_t i = first; i < std::min(count, first + block); ++i) {
        mine[found] = i;
        found += static_cast<std::size_t>(starts[i]) - own.begin < own.end - own.begin ? 1 : 0;
      }
      for (std::size_t k = 0; k < found; ++k)
        apply(args.in<T>(2) + mine[k] * row, args.out<T>() + starts[mine[k]], {0, row});
    }
  }

 private:
  void apply(const T* from, T* to, SliceRange columns) const {
    const StridedWalk& rest = lookup.rest;
    if (rest.rank <= 1) {
      const std::int64_t step = rest.rank == 0 ? 1 : rest.strides[0][0];
      Operation::apply(from + columns.begin, to + static_cast<std::int64_t>(columns.begin) * step,
                       step, columns.end - columns.begin);
      return;
    }
    const std::int64_t step = rest.strides[0][rest.rank - 1];
    indexing_isa::for_runs(rest, columns,
                           [&](std::size_t position, std::int64_t at, std::int64_t, std::size_t n) {
                             Operation::apply(from + position, to + at, step, n);
                           });
  }
};

CpuStage starts_stage(const indexing::Lookup& lookup, DType indices) {
  const auto count = static_cast<std::size_t>(lookup.count);
  const std::uint32_t slices = slice_count(count, std::size_t{32} << 10);
  return {slices, [=, offsets = indexing_isa::offsets_of(indices)](const CpuArgs& args,
                                                                   std::uint32_t index) {
            const SliceRange range = slice_range(count, slices, index);
            offsets(args.inputs[1], lookup, range.begin, range.end - range.begin,
                    reinterpret_cast<std::int64_t*>(args.scratch) + range.begin);
          }};
}

template <class Operation, class T>
CpuStage updates_stage(const indexing::Lookup& lookup, std::size_t target) {
  constexpr std::size_t enough_columns = std::size_t{4} << 10;
  constexpr std::size_t enough_updates = std::size_t{16} << 10;
  const auto row = static_cast<std::size_t>(lookup.row);
  const std::size_t updates = row * static_cast<std::size_t>(lookup.count);
  Updates<Operation, T> stage{lookup, target, slice_count(updates, enough_updates), false};
  if (row * sizeof(T) >= enough_columns) {
    stage.by_columns = true;
    stage.slices = static_cast<std::uint32_t>(
        std::min<std::size_t>(stage.slices, row * sizeof(T) / (enough_columns / 4)));
  } else {
    // Every slice reads all starts, so one for each core is enough.
    stage.slices = (stage.slices + 3) / 4;
  }
  return {stage.slices,
          [stage](const CpuArgs& args, std::uint32_t index) { stage.run(args, index); }};
}

template <class Operation>
CpuStage stage_for(DType dtype, const indexing::Lookup& lookup, std::size_t target) {
  CpuStage stage;
  const auto make = [&]<class T>() { stage = updates_stage<Operation, T>(lookup, target); };
  if constexpr (std::is_same_v<Operation, Put>)
    indexing_isa::visit_bits(size_of(dtype), make);
  else
    visit_dtype(dtype, [&]<class T>() {
      if constexpr (!std::is_same_v<T, bool>) make.template operator()<T>();
    });
  return stage;
}

template <class Operation>
Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  CpuPlan plan = cpu::copy_plan(outputs[0].bytes());
  if (call.inputs[2].elements() == 0) return plan;
  STOKER_ASSIGN(const indexing::Lookup lookup, rows_of("scatter", call));
  plan.scratch_bytes = static_cast<std::size_t>(lookup.count) * sizeof(std::int64_t);
  plan.cost_ns +=
      static_cast<double>(call.inputs[2].bytes()) * 0.2 + static_cast<double>(lookup.count) * 3;
  plan.stages.push_back(starts_stage(lookup, call.dtype(1)));
  plan.stages.push_back(stage_for<Operation>(call.dtype(), lookup, outputs[0].elements()));
  return plan;
}

}  // namespace

void implement(CpuTable& table) {
  table.set("indexed_add", &plan<Combine<Sum>>);
  table.set("indexed_multiply", &plan<Combine<Product>>);
  table.set("indexed_max", &plan<Combine<Extreme<true>>>);
  table.set("indexed_min", &plan<Combine<Extreme<false>>>);
  table.set("indexed_put", &plan<Put>);
}

}  // namespace stoker::kernels::scatter::STOKER_ISA
