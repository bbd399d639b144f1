#include "stoker/kernels/indexing/runs.hpp"
#include "stoker/kernels/pad/padding.hpp"

namespace stoker::kernels::pad::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;
namespace indexing_isa = stoker::indexing::STOKER_ISA;

/// The entries of x whose places in a row lie in columns [begin, end).
struct Kept {
  std::int64_t first;
  std::int64_t end;
};

Kept kept(const Axis& axis, std::int64_t begin, std::int64_t end) noexcept {
  // The first entry at or behind a column, which may lie before the row.
  const auto at_or_behind = [&](std::int64_t column) {
    const std::int64_t distance = column - axis.low;
    return distance <= 0 ? 0 : std::min(axis.from, (distance + axis.step - 1) / axis.step);
  };
  const std::int64_t first = at_or_behind(begin);
  return {first, std::max(first, at_or_behind(end))};
}

template <class T> struct Rows {
  Padding padding;
  bool streams;

  void run(const CpuArgs& args, SliceRange range) const {
    const auto row_elements = static_cast<std::size_t>(padding.inner().extent);
    T* y = args.out<T>();
    for (std::size_t i = range.begin; i < range.end;) {
      const std::size_t row = i / row_elements;
      const std::size_t column = i - row * row_elements;
      const std::size_t n = std::min(row_elements - column, range.end - i);
      write(args, row, column, n, y + i);
      i += n;
    }
    if (streams) cpu::stream_fence();
  }

 private:
  /// Where x's row for row `row` of y begins, or -1 if the row is padding.
  [[nodiscard]] std::int64_t locate(std::size_t row) const noexcept {
    auto rest = static_cast<std::int64_t>(row);
    std::int64_t stride = padding.inner().from;
    std::int64_t at = 0;
    for (std::size_t i = padding.axes.size() - 1; i-- > 0;) {
      const Axis& axis = padding.axes[i];
      const std::int64_t distance = rest % axis.extent - axis.low;
      rest /= axis.extent;
      if (distance < 0 || distance % axis.step != 0 || distance / axis.step >= axis.from) return -1;
      at += distance / axis.step * stride;
      stride *= axis.from;
    }
    return at;
  }

  /// Columns [column, column + n) of a row, to `to`.
  void write(const CpuArgs& args, std::size_t row, std::size_t column, std::size_t n, T* to) const {
    const Axis& axis = padding.inner();
    const T value = *args.in<T>(1);
    const auto begin = static_cast<std::int64_t>(column);
    const auto end = begin + static_cast<std::int64_t>(n);
    const std::int64_t start = locate(row);
    const Kept entries = start < 0 ? Kept{0, 0} : kept(axis, begin, end);
    if (entries.first == entries.end) {
      std::fill_n(to, n, value);
      return;
    }
    const T* from = args.in<T>(0) + start + entries.first;
    const auto count = static_cast<std::size_t>(entries.end - entries.first);
    const auto before = static_cast<std::size_t>(axis.low + entries.first * axis.step - begin);
    if (axis.step == 1) {
      std::fill_n(to, before, value);
      indexing_isa::move_dense(from, to + before, count, streams);
      std::fill_n(to + before + count, n - before - count, value);
      return;
    }
    std::fill_n(to, n, value);
    to += before;
    for (std::size_t i = 0; i < count; ++i, to += axis.step) *to = from[i];
  }
};

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  const std::size_t n = outputs[0].elements();
  const std::uint32_t slices = slice_count(n, std::size_t{32} << 10);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(outputs[0].bytes()) * 0.1;
  indexing_isa::visit_bits(size_of(call.dtype()), [&]<class T>() {
    plan.stages.push_back({slices, [rows = Rows<T>{padding(call, outputs[0].shape),
                                                   outputs[0].bytes() >= cpu::stream_from_bytes},
                                    n, slices](const CpuArgs& args, std::uint32_t index) {
                             rows.run(args, slice_range(n, slices, index));
                           }});
  });
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("pad", &plan); }

}  // namespace stoker::kernels::pad::STOKER_ISA
