#include "stoker/kernels/cpu_plan.hpp"
#include "stoker/kernels/sort/keys.hpp"
#include "stoker/kernels/sort/order.hpp"

namespace stoker::kernels::sort::STOKER_ISA {
namespace {

// Elements that pay for a slice, and for a piece of a row that is sorted by itself.
constexpr std::size_t grain = std::size_t{8} << 10;
constexpr std::size_t least_piece = std::size_t{64} << 10;
// Columns that are read together, so that a line of memory is used whole.
constexpr std::size_t most_columns = 16;
constexpr std::size_t column_bytes = std::size_t{1} << 20;

struct Problem {
  std::size_t rows;
  std::size_t length;
  std::size_t inner;
  std::size_t keep;
  bool descending;

  /// Where element i of a row lies in an array whose rows are `length` long.
  [[nodiscard]] std::size_t at(std::size_t row, std::size_t i, std::size_t extent) const noexcept {
    return (row / inner * extent + i) * inner + row % inner;
  }
};

/// Values alone are sorted as bare keys, which give the elements back; positions travel with keys
/// in which -0 is 0.
template <class T, bool Positions> struct Sorter {
  using K = Key<T>;
  using Item = std::conditional_t<Positions, Indexed<K>, K>;

  Problem p;

  [[nodiscard]] K flip() const noexcept { return p.descending ? static_cast<K>(~K{0}) : K{0}; }

  [[nodiscard]] Item item(const T& element, std::size_t i) const noexcept {
    const K key = key_of<Positions>(element, flip());
    if constexpr (Positions)
      return {key, static_cast<std::uint32_t>(i)};
    else
      return key;
  }

  void load(const T* x, std::size_t row, std::size_t begin, std::size_t end,
            Item* items) const noexcept {
    const T* from = x + p.at(row, 0, p.length);
    for (std::size_t i = begin; i < end; ++i) *items++ = item(from[i * p.inner], i);
  }

  /// Writes results [begin, end) of a row from its sorted items.
  void store(const Item* items, std::size_t row, std::size_t begin, std::size_t end,
             const CpuArgs& args, bool values) const noexcept {
    const std::size_t to = p.at(row, 0, p.keep);
    if constexpr (Positions) {
      auto* indices = static_cast<std::int32_t*>(args.outputs[values ? 1 : 0]) + to;
      for (std::size_t i = begin; i < end; ++i)
        indices[i * p.inner] = static_cast<std::int32_t>(items[i].index);
      if (!values) return;
      const T* x = args.in<T>(0) + p.at(row, 0, p.length);
      T* y = args.out<T>() + to;
      for (std::size_t i = begin; i < end; ++i) y[i * p.inner] = x[items[i].index * p.inner];
    } else {
      T* y = args.out<T>() + to;
      for (std::size_t i = begin; i < end; ++i) y[i * p.inner] = element_of<T>(items[i], flip());
    }
  }

  /// Keys separate -0 from 0 and merge all NaN; both are equals, which stay in the order of the
  /// input. So the runs of zeros and of NaN are written once more, from there.
  void mend(const CpuArgs& args, std::size_t row) const noexcept {
    if constexpr (!Positions && is_real<T>) {
      const T* x = args.in<T>(0) + p.at(row, 0, p.length);
      T* y = args.out<T>() + p.at(row, 0, p.length);
      const auto first_from = [&](K least) {
        std::size_t low = 0, high = p.length;
        while (low < high) {
          const std::size_t middle = (low + high) / 2;
          const K key = key_of<false>(y[middle * p.inner], K{0});
          (p.descending ? key >= least : key < least) ? low = middle + 1 : high = middle;
        }
        return low;
      };
      const auto rewrite = [&](std::size_t at, std::size_t end, auto&& belongs) {
        for (std::size_t i = 0; at < end; ++i)
          if (belongs(x[i * p.inner])) y[at++ * p.inner] = x[i * p.inner];
      };
      constexpr K zero = top_bit<T>;
      const std::size_t least = first_from(static_cast<K>(zero - 1));
      const std::size_t greatest = first_from(static_cast<K>(zero + 1));
      const std::size_t between = first_from(zero);
      if (least != between && between != greatest)
        rewrite(std::min(least, greatest), std::max(least, greatest), is_zero<T>);
      const std::size_t nan = first_from(static_cast<K>(~K{0}));
      rewrite(p.descending ? 0 : nan, p.descending ? nan : p.length, is_nan<T>);
    }
  }
};

/// Rounds up to whole lines of memory.
constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Many rows: each slice sorts whole ones.
template <class T, bool Positions>
void add_whole_rows(CpuPlan& plan, const Sorter<T, Positions>& sorter, bool values,
                    std::uint32_t slices) {
  using Item = typename Sorter<T, Positions>::Item;
  const Problem& p = sorter.p;
  const std::size_t columns = std::clamp<std::size_t>(column_bytes / (p.length * sizeof(Item)), 1,
                                                      std::min(most_columns, p.inner));
  const std::size_t groups = (p.inner + columns - 1) / columns;
  const std::size_t units = p.rows / p.inner * groups;
  slices = static_cast<std::uint32_t>(std::min<std::size_t>(slices, units));
  const std::size_t counts_bytes = counters * sizeof(std::uint32_t);
  const std::size_t work = counts_bytes + aligned((columns + 1) * p.length * sizeof(Item));
  plan.scratch_bytes = slices * work;
  plan.stages.push_back(
      {slices, [=](const CpuArgs& args, std::uint32_t index) {
         auto* counts = reinterpret_cast<std::uint32_t*>(args.scratch + index * work);
         auto* items = reinterpret_cast<Item*>(args.scratch + index * work + counts_bytes);
         const std::size_t length = sorter.p.length;
         Item* other = items + columns * length;
         const SliceRange range = slice_range(units, slices, index, 1);
         for (std::size_t unit = range.begin; unit < range.end; ++unit) {
           const std::size_t column = unit % groups * columns;
           const std::size_t row = unit / groups * sorter.p.inner + column;
           const std::size_t together = std::min(columns, sorter.p.inner - column);
           const T* x = args.in<T>(0) + sorter.p.at(row, 0, length);
           if (together > 1)
             for (std::size_t i = 0; i < length; ++i)
               for (std::size_t j = 0; j < together; ++j)
                 items[j * length + i] = sorter.item(x[i * sorter.p.inner + j], i);
           else
             sorter.load(args.in<T>(0), row, 0, length, items);
           for (std::size_t j = 0; j < together; ++j) {
             const Item* sorted = radix_sort(items + j * length, other, length, counts);
             sorter.store(sorted, row + j, 0, sorter.p.keep, args, values);
             sorter.mend(args, row + j);
           }
         }
       }});
}

/// Few long rows: `pieces` (a power of two) of each are sorted, then merged pair by pair.
template <class T, bool Positions>
void add_cut_rows(CpuPlan& plan, const Sorter<T, Positions>& sorter, bool values,
                  std::size_t pieces) {
  using Item = typename Sorter<T, Positions>::Item;
  const std::size_t rows = sorter.p.rows;
  const std::size_t length = sorter.p.length;
  const std::size_t piece = (length + pieces - 1) / pieces;
  const auto slices = static_cast<std::uint32_t>(rows * pieces);
  const std::size_t buffer = aligned(rows * length * sizeof(Item));
  const std::size_t counts_bytes = counters * sizeof(std::uint32_t);
  plan.scratch_bytes = 2 * buffer + slices * counts_bytes;
  // A slice takes the same part of a row in every stage.
  struct Part {
    std::size_t row, begin, end;
  };
  const auto part = [=](std::uint32_t index) {
    const std::size_t begin = std::min(index % pieces * piece, length);
    return Part{index / pieces, begin, std::min(begin + piece, length)};
  };
  const auto items = [=](const CpuArgs& args, std::size_t which, std::size_t row) {
    return reinterpret_cast<Item*>(args.scratch + which * buffer) + row * length;
  };
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const auto [row, begin, end] = part(index);
                           Item* own = items(args, 0, row) + begin;
                           Item* other = items(args, 1, row) + begin;
                           sorter.load(args.in<T>(0), row, begin, end, own);
                           auto* counts = reinterpret_cast<std::uint32_t*>(
                               args.scratch + 2 * buffer + index * counts_bytes);
                           const Item* sorted = radix_sort(own, other, end - begin, counts);
                           if (sorted != own) std::copy_n(sorted, end - begin, own);
                         }});
  std::size_t from = 0;
  for (std::size_t run = piece; run < piece * pieces; run *= 2, from = 1 - from)
    plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                             const auto [row, begin, end] = part(index);
                             const std::size_t start = begin / (2 * run) * (2 * run);
                             const Item* source = items(args, from, row) + start;
                             merge_part(source, run, std::min(2 * run, length - start),
                                        begin - start, end - start,
                                        items(args, 1 - from, row) + begin);
                           }});
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const auto [row, begin, end] = part(index);
                           const std::size_t keep = sorter.p.keep;
                           sorter.store(items(args, from, row), row, std::min(begin, keep),
                                        std::min(end, keep), args, values);
                         }});
  if (!Positions && is_real<T>)
    plan.stages.push_back(
        {static_cast<std::uint32_t>(rows),
         [=](const CpuArgs& args, std::uint32_t row) { sorter.mend(args, row); }});
}

/// Few of many: every piece of a row keeps its best `keep`, of which the best are sorted. Later
/// elements must beat the worst of the kept ones: of equals, the first are wanted.
template <class T>
void add_selection(CpuPlan& plan, const Sorter<T, true>& sorter, std::size_t pieces,
                   std::uint32_t slices) {
  using Item = typename Sorter<T, true>::Item;
  const std::size_t keep = sorter.p.keep;
  const std::size_t room = std::max<std::size_t>(4 * keep, 1024);
  const std::size_t piece = (sorter.p.length + pieces - 1) / pieces;
  const std::size_t units = sorter.p.rows * pieces;
  slices = static_cast<std::uint32_t>(std::min<std::size_t>(slices, units));
  const std::size_t found_bytes = aligned(units * keep * sizeof(Item));
  plan.scratch_bytes = found_bytes + slices * aligned(room * sizeof(Item));
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           auto* best = reinterpret_cast<Item*>(
                               args.scratch + found_bytes + index * aligned(room * sizeof(Item)));
                           const SliceRange range = slice_range(units, slices, index, 1);
                           for (std::size_t unit = range.begin; unit < range.end; ++unit) {
                             const std::size_t begin = unit % pieces * piece;
                             const std::size_t end = std::min(begin + piece, sorter.p.length);
                             const T* x = args.in<T>(0) + unit / pieces * sorter.p.length;
                             std::size_t held = 0;
                             const auto prune = [&] {
                               std::nth_element(best, best + keep - 1, best + held);
                               held = keep;
                             };
                             std::size_t i = begin;
                             for (; i < end && held < room; ++i)
                               best[held++] = sorter.item(x[i], i);
                             if (held == room) prune();
                             for (; i < end; ++i) {
                               const Item item = sorter.item(x[i], i);
                               if (item.key >= best[keep - 1].key) continue;
                               best[held++] = item;
                               if (held == room) prune();
                             }
                             if (held > keep) prune();
                             std::copy_n(best, keep,
                                         reinterpret_cast<Item*>(args.scratch) + unit * keep);
                           }
                         }});
  plan.stages.push_back({slices, [=](const CpuArgs& args, std::uint32_t index) {
                           const SliceRange range = slice_range(sorter.p.rows, slices, index, 1);
                           for (std::size_t row = range.begin; row < range.end; ++row) {
                             Item* found =
                                 reinterpret_cast<Item*>(args.scratch) + row * pieces * keep;
                             std::partial_sort(found, found + keep, found + pieces * keep);
                             sorter.store(found, row, 0, keep, args, true);
                           }
                         }});
}

template <class T, bool Positions> CpuPlan make_plan(const Problem& p, bool values) {
  const Sorter<T, Positions> sorter{p};
  const std::size_t elements = p.rows * p.length;
  const std::uint32_t slices = slice_count(elements, grain);
  CpuPlan plan;
  plan.cost_ns = 100 + static_cast<double>(elements) * 8;
  // As many pieces as leave no slice idle, if they are worth it.
  std::size_t pieces = 1;
  while (p.rows * pieces < slices && p.length / (2 * pieces) >= least_piece) pieces *= 2;
  if constexpr (Positions)
    if (values && p.keep * pieces * 8 <= p.length) {
      add_selection(plan, sorter, pieces, slices);
      return plan;
    }
  if (pieces > 1)
    add_cut_rows(plan, sorter, values, pieces);
  else
    add_whole_rows(plan, sorter, values, slices);
  return plan;
}

template <Kind kind> Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec>) {
  STOKER_ASSIGN(const Order order, order_of(kind, call));
  const Problem p{static_cast<std::size_t>(order.rows.rows()),
                  static_cast<std::size_t>(order.rows.length),
                  static_cast<std::size_t>(order.rows.inner), static_cast<std::size_t>(order.keep),
                  order.descending};
  return visit_dtype(call.dtype(), [&]<class T>() {
    // Bools are bytes of 0 and 1.
    using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
    return make_plan<Stored, kind != Kind::sort>(p, order.values);
  });
}

}  // namespace

void implement(CpuTable& table) {
  table.set("sort", &plan<Kind::sort>);
  table.set("argsort", &plan<Kind::argsort>);
  table.set("top_k", &plan<Kind::top_k>);
}

}  // namespace stoker::kernels::sort::STOKER_ISA
