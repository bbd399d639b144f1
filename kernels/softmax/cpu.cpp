#include "stoker/kernels/cpu/accumulate.hpp"
#include "stoker/kernels/cpu/math.hpp"
#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/softmax/rows.hpp"

namespace stoker::kernels::softmax::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

// Elements of whole rows that a slice works on at a time, in the first-level cache.
constexpr std::size_t row_block = 4096;
// Columns that a slice walks down at a time.
constexpr std::size_t column_block = 512;
// Exponentials added in one chain.
constexpr std::size_t chain = 256;

/// to[j] = e^(x[j] - m), none of which is above 1.
template <class C> void exponentials(const C* x, C m, C* to, std::size_t n) noexcept {
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j) to[j] = cpu::exp_decaying(x[j] - m);
}

template <class C> void scale(const C* x, C factor, C* to, std::size_t n) noexcept {
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j) to[j] = x[j] * factor;
}

template <class T>
void write(const cpu::Compute<T>* values, T* to, std::size_t n, bool streams) noexcept {
  if constexpr (std::is_same_v<T, cpu::Compute<T>>) {
    if (streams)
      cpu::stream_copy(to, values, n * sizeof(T));
    else
      std::memcpy(to, values, n * sizeof(T));
  } else {
    cpu::store_block(values, to, n);
  }
}

/// A row of at most row_block elements; `held` has room for them.
template <class T>
void row_in_cache(const T* x, T* y, std::size_t length, bool streams, cpu::Compute<T>* held) {
  using C = cpu::Compute<T>;
  const C* values = cpu::loaded(x, held, length);
  exponentials(values, cpu::accumulate_block<cpu::Max>(values, length), held, length);
  const C factor = 1 / cpu::accumulate<cpu::Sum, C>(held, length);
  if constexpr (std::is_same_v<T, C>)
    if (!streams) return scale(held, factor, y, length);
  scale(held, factor, held, length);
  write(held, y, length, streams);
}

/// `count` rows of at most row_block elements together. The exponential runs over all of them at
/// once, so short rows cost no more than long ones. `held` has room for row_block elements.
template <class T>
void short_rows(const T* x, T* y, std::size_t count, std::size_t length, bool streams,
                cpu::Compute<T>* held) {
  using C = cpu::Compute<T>;
  cpu::load_block(x, held, count * length);
  for (std::size_t row = 0; row < count; ++row) {
    C* values = held + row * length;
    const C m = cpu::accumulate_block<cpu::Max>(values, length);
#pragma GCC ivdep
    for (std::size_t j = 0; j < length; ++j) values[j] -= m;
  }
  exponentials(held, C{0}, held, count * length);
  for (std::size_t row = 0; row < count; ++row) {
    C* values = held + row * length;
    scale(values, 1 / cpu::accumulate<cpu::Sum, C>(values, length), values, length);
  }
  write(held, y, count * length, streams);
}

/// A row that outgrows the block: its exponentials are computed twice rather than kept.
template <class T>
void long_row(const T* x, T* y, std::size_t length, bool streams, cpu::Compute<T>* held) {
  using C = cpu::Compute<T>;
  const C m = cpu::accumulate<cpu::Max, C>(x, length);
  double sum = 0;
  const auto blocks = [&](auto&& use) {
    for (std::size_t i = 0; i < length; i += row_block) {
      const std::size_t n = std::min(row_block, length - i);
      exponentials(cpu::loaded(x + i, held, n), m, held, n);
      use(i, n);
    }
  };
  blocks([&](std::size_t, std::size_t n) {
    sum += static_cast<double>(cpu::accumulate<cpu::Sum, C>(held, n));
  });
  const C factor = static_cast<C>(1 / sum);
  blocks([&](std::size_t i, std::size_t n) {
    scale(held, factor, held, n);
    write(held, y + i, n, streams);
  });
}

/// n ≤ column_block columns of `length` elements, `inner` apart. `held` has room for 3 blocks.
template <class T>
void columns(const T* x, T* y, std::size_t length, std::size_t inner, std::size_t n,
             cpu::Compute<T>* held) {
  using C = cpu::Compute<T>;
  C* largest = held;
  C* part = held + column_block;
  C* buffer = held + 2 * column_block;
  double sums[column_block];
  std::fill_n(largest, n, cpu::Max::identity<C>());
  cpu::accumulate_columns<cpu::Max, C>(x, inner, length, n, largest);
  std::fill_n(sums, n, 0.0);
  for (std::size_t first = 0; first < length; first += chain) {
    std::fill_n(part, n, C{0});
    for (std::size_t i = first; i < std::min(length, first + chain); ++i) {
      const C* row = cpu::loaded(x + i * inner, buffer, n);
#pragma GCC ivdep
      for (std::size_t j = 0; j < n; ++j) part[j] += cpu::exp_decaying(row[j] - largest[j]);
    }
    for (std::size_t j = 0; j < n; ++j) sums[j] += static_cast<double>(part[j]);
  }
  alignas(64) C factors[column_block];
  for (std::size_t j = 0; j < n; ++j) factors[j] = static_cast<C>(1 / sums[j]);
  for (std::size_t i = 0; i < length; ++i) {
    const C* row = cpu::loaded(x + i * inner, buffer, n);
#pragma GCC ivdep
    for (std::size_t j = 0; j < n; ++j)
      part[j] = cpu::exp_decaying(row[j] - largest[j]) * factors[j];
    cpu::store_block(part, y + i * inner, n);
  }
}

struct Work {
  std::size_t outer;
  std::size_t length;
  std::size_t inner;
  std::size_t together;  // rows, or columns, of one unit
  std::size_t units;
  std::uint32_t slices;
  bool streams;

  template <class T> void run(const CpuArgs& args, std::uint32_t index) const {
    using C = cpu::Compute<T>;
    auto* held = reinterpret_cast<C*>(args.scratch) + index * row_block;
    const T* x = args.in<T>(0);
    T* y = args.out<T>();
    const SliceRange range = slice_range(units, slices, index, 1);
    for (std::size_t unit = range.begin; unit < range.end; ++unit) {
      if (inner > 1) {
        const std::size_t blocks = (inner + together - 1) / together;
        const std::size_t column = unit % blocks * together;
        const std::size_t at = unit / blocks * length * inner + column;
        columns(x + at, y + at, length, inner, std::min(together, inner - column), held);
      } else {
        const std::size_t row = unit * together;
        const std::size_t at = row * length;
        if (length >= 64 && length <= row_block)
          for (std::size_t i = 0; i < std::min(together, outer - row); ++i)
            row_in_cache(x + at + i * length, y + at + i * length, length, streams, held);
        else if (length <= row_block)
          short_rows(x + at, y + at, std::min(together, outer - row), length, streams, held);
        else
          long_row(x + at, y + at, length, streams, held);
      }
    }
    if (streams) cpu::stream_fence();
  }
};
static_assert(3 * column_block <= row_block);

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  STOKER_ASSIGN(const Rows rows, rows_of(call));
  Work work{};
  work.outer = static_cast<std::size_t>(rows.outer);
  work.length = static_cast<std::size_t>(rows.length);
  work.inner = static_cast<std::size_t>(rows.inner);
  if (rows.inner > 1) {
    work.together = std::min(column_block, work.inner);
    work.units = work.outer * ((work.inner + work.together - 1) / work.together);
  } else {
    work.together = std::max<std::size_t>(row_block / work.length, 1);
    work.units = (work.outer + work.together - 1) / work.together;
  }
  const std::size_t n = outputs[0].elements();
  const std::uint32_t slices = slice_count(n, std::size_t{16} << 10);
  work.slices = static_cast<std::uint32_t>(std::min<std::size_t>(slices, work.units));
  work.streams = outputs[0].bytes() >= cpu::stream_from_bytes && call.dtype() != DType::f16 &&
                 call.dtype() != DType::bf16;
  CpuPlan plan;
  plan.cost_ns = 100 + static_cast<double>(n) * 0.8;
  const auto add = [&]<class T>() {
    plan.scratch_bytes = work.slices * row_block * sizeof(cpu::Compute<T>);
    plan.stages.push_back({work.slices, [work](const CpuArgs& args, std::uint32_t index) {
                             work.run<T>(args, index);
                           }});
  };
  visit_dtype(call.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<cpu::Compute<T>>) add.template operator()<T>();
  });
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("softmax", &plan); }

}  // namespace stoker::kernels::softmax::STOKER_ISA
