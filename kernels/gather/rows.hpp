// The CPU's copy of the rows that index vectors choose. Compiled once per instruction set.
#pragma once

#include "stoker/kernels/cpu/operand.hpp"
#include "stoker/kernels/indexing/offsets.hpp"
#include "stoker/kernels/indexing/runs.hpp"

namespace stoker::kernels::gather::STOKER_ISA {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;
namespace indexing_isa = stoker::indexing::STOKER_ISA;

/// Copies row after row of input 0 to output 0; input 1 holds the indices.
template <class T> class RowCopy {
 public:
  RowCopy(const indexing::Lookup& lookup, DType indices, bool streams)
      : lookup_{lookup},
        offsets_{indexing_isa::offsets_of(indices)},
        streams_{streams},
        dense_{lookup.dense()},
        count_{static_cast<std::size_t>(lookup.count)},
        row_{static_cast<std::size_t>(lookup.row)},
        // Pieces of long rows are dealt out like rows.
        pieces_{(row_ + longest_piece - 1) / longest_piece} {}

  [[nodiscard]] std::size_t items() const noexcept {
    return static_cast<std::size_t>(lookup_.outer) * count_ * pieces_;
  }

  void run(const CpuArgs& args, SliceRange range) const {
    std::int64_t starts[block];
    for (std::size_t item = range.begin; item < range.end;) {
      const std::size_t place = item / pieces_;
      const std::size_t outer = place / count_;
      const std::size_t first = place - outer * count_;
      const std::size_t n = pieces_ > 1 ? 1 : std::min({block, count_ - first, range.end - item});
      offsets_(args.inputs[1], lookup_, first, n, starts);
      const T* x = args.in<T>(0) + static_cast<std::int64_t>(outer) * lookup_.outer_stride;
      T* y = args.out<T>() + place * row_;
      if (pieces_ > 1) {
        const SliceRange piece = slice_range(row_, static_cast<std::uint32_t>(pieces_),
                                             static_cast<std::uint32_t>(item - place * pieces_));
        copy_piece(x + starts[0], y, piece);
      } else if (row_ == 1) {
        for (std::size_t i = 0; i < n; ++i) y[i] = x[starts[i]];
      } else {
        for (std::size_t i = 0; i < n; ++i) copy_piece(x + starts[i], y + i * row_, {0, row_});
      }
      item += n;
    }
    if (streams_) cpu::stream_fence();
  }

 private:
  static constexpr std::size_t block = 256;
  static constexpr std::size_t longest_piece = (std::size_t{256} << 10) / sizeof(T);

  void copy_piece(const T* x, T* y, SliceRange piece) const noexcept {
    const std::size_t n = piece.end - piece.begin;
    if (dense_)
      indexing_isa::move_dense(x + piece.begin, y + piece.begin, n, streams_);
    else
      cpu::gather(x, lookup_.rest, 0, piece.begin, n, y + piece.begin);
  }

  indexing::Lookup lookup_;
  indexing_isa::Offsets offsets_;
  bool streams_;
  bool dense_;
  std::size_t count_;
  std::size_t row_;
  std::size_t pieces_;
};

/// Rows of two, four or eight small elements are moved as one larger one. Returns its bytes.
inline std::size_t widen(indexing::Lookup& lookup, std::size_t bytes) noexcept {
  if (!lookup.dense()) return bytes;
  // All strides are multiples of the row.
  for (; bytes < 8 && lookup.row % 2 == 0; bytes *= 2) {
    lookup.row /= 2;
    lookup.outer_stride /= 2;
    for (std::int64_t& stride : lookup.strides) stride /= 2;
    if (lookup.rest.rank > 0) lookup.rest.extents[0] /= 2;
  }
  return bytes;
}

/// `rows` is what the lookup yields, of input 0's dtype.
inline CpuPlan rows_plan(indexing::Lookup lookup, DType indices, const TensorSpec& rows) {
  const bool streams = rows.bytes() >= cpu::stream_from_bytes;
  CpuPlan plan;
  // A row costs its bytes and most often a miss.
  plan.cost_ns = 50 + static_cast<double>(rows.bytes()) * 0.1 +
                 static_cast<double>(lookup.count) * static_cast<double>(lookup.outer) * 2;
  indexing_isa::visit_bits(widen(lookup, size_of(rows.dtype)), [&]<class T>() {
    const RowCopy<T> copy{lookup, indices, streams};
    const auto slices = static_cast<std::uint32_t>(
        std::min<std::size_t>(slice_count(rows.bytes(), std::size_t{64} << 10), copy.items()));
    plan.stages.push_back({slices, [copy, slices](const CpuArgs& args, std::uint32_t index) {
                             copy.run(args, slice_range(copy.items(), slices, index, 1));
                           }});
  });
  return plan;
}

}  // namespace stoker::kernels::gather::STOKER_ISA
