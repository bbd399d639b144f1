#include <bit>
#include <type_traits>
#include <utility>

#include "stoker/kernels/cpu/copy_plan.hpp"
#include "stoker/kernels/cpu/operand.hpp"
#include "stoker/kernels/transpose/permutation.hpp"

namespace stoker::kernels::transpose::STOKER_ISA {
namespace {

namespace cpu = stoker::kernels::cpu::STOKER_ISA;

template <class T> using Vector [[gnu::vector_size(16)]] = T;

template <class T> inline constexpr std::size_t lanes = 16 / sizeof(T);

template <std::size_t Offset, class T, std::size_t... I>
inline Vector<T> interleave(Vector<T> a, Vector<T> b, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(a, b, (Offset + I / 2 + (I % 2) * lanes<T>)...);
}

/// Turns a block of lanes × lanes elements. Interleaving row i with row i + lanes/2 moves one bit of
/// the column index to the row index; after log2(lanes) rounds all have changed places. Unrolled by
/// construction: with loops the rows would live in memory instead of registers.
template <class T, std::size_t... I>
inline void turn_square(const T* from, std::size_t from_stride, T* to, std::size_t to_stride,
                        std::index_sequence<I...> indices) noexcept {
  constexpr std::size_t half = lanes<T> / 2;
  Vector<T> rows[lanes<T>];
  (std::memcpy(&rows[I], from + I * from_stride, 16), ...);
  const auto round = [&] {
    const Vector<T> next[] = {
        interleave<I % 2 * half, T>(rows[I / 2], rows[I / 2 + half], indices)...};
    ((rows[I] = next[I]), ...);
  };
  constexpr int rounds = std::countr_zero(lanes<T>);
  [&]<int... R>(std::integer_sequence<int, R...>) { ((static_cast<void>(R), round()), ...); }
  (std::make_integer_sequence<int, rounds>{});
  (std::memcpy(to + I * to_stride, &rows[I], 16), ...);
}

/// to[column][row] = from[row][column].
template <class T>
void turn(const T* from, std::size_t from_stride, T* to, std::size_t to_stride, std::size_t rows,
          std::size_t columns) noexcept {
  constexpr std::size_t n = lanes<T>;
  const std::size_t whole_rows = rows / n * n;
  const std::size_t whole_columns = columns / n * n;
  for (std::size_t row = 0; row < whole_rows; row += n)
    for (std::size_t column = 0; column < whole_columns; column += n)
      turn_square(from + row * from_stride + column, from_stride, to + column * to_stride + row,
                  to_stride, std::make_index_sequence<n>{});
  const auto one_by_one = [&](std::size_t row_begin, std::size_t row_end,
                              std::size_t column_begin) {
    for (std::size_t column = column_begin; column < columns; ++column)
      for (std::size_t row = row_begin; row < row_end; ++row)
        to[column * to_stride + row] = from[row * from_stride + column];
  };
  one_by_one(0, whole_rows, whole_columns);
  one_by_one(whole_rows, rows, 0);
}

/// Asks for all lines of a block at once: the shuffles touch so few rows at a time that misses would
/// be served one after the other.
template <class T>
void prefetch(const T* from, std::size_t stride, std::size_t rows, std::size_t columns) noexcept {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; column += 64 / sizeof(T))
      __builtin_prefetch(from + row * stride + column);
}

/// Elements of a tile: it is built in the first-level cache and leaves it in whole lines.
template <class T> inline constexpr std::size_t tile_elements = (std::size_t{16} << 10) / sizeof(T);

struct Tiling {
  std::size_t rows;
  std::size_t columns;
};

/// As square as the matrix allows.
template <class T> Tiling tiling(const Matrices& m) {
  constexpr std::size_t side = sizeof(T) == 8 ? 32 : sizeof(T) == 1 ? 128 : 64;
  const auto rows = static_cast<std::size_t>(m.rows);
  const auto columns = static_cast<std::size_t>(m.columns);
  if (rows < side) return {rows, std::min(columns, tile_elements<T> / rows)};
  if (columns < side) return {std::min(rows, tile_elements<T> / columns / 64 * 64), columns};
  return {side, side};
}

template <class T> struct TilePlan {
  Matrices m;
  Tiling tile;
  std::size_t down;
  std::size_t across;
  bool streams;

  TilePlan(const Matrices& matrices, bool past_cache)
      : m{matrices},
        tile{tiling<T>(matrices)},
        down{(static_cast<std::size_t>(m.rows) + tile.rows - 1) / tile.rows},
        across{(static_cast<std::size_t>(m.columns) + tile.columns - 1) / tile.columns},
        streams{past_cache} {}

  [[nodiscard]] std::size_t tiles() const noexcept {
    return down * across * static_cast<std::size_t>(m.batches());
  }

  void run(const CpuArgs& args, SliceRange range) const {
    for (std::size_t i = range.begin; i < range.end; ++i) run_tile(args, i);
    if (streams) cpu::stream_fence();
  }

 private:
  void write(T* to, const T* from, std::size_t n) const noexcept {
    if (streams)
      cpu::stream_copy(to, from, n * sizeof(T));
    else
      std::memcpy(to, from, n * sizeof(T));
  }

  void run_tile(const CpuArgs& args, std::size_t index) const {
    const std::size_t left = index % across * tile.columns;
    index /= across;
    const std::size_t top = index % down * tile.rows;
    auto batch = static_cast<std::int64_t>(index / down);
    const T* from = args.in<T>(0);
    T* to = args.out<T>();
    for (std::size_t axis = m.batch_rank; axis-- > 0;) {
      from += batch % m.batch_extents[axis] * m.batch_in[axis];
      to += batch % m.batch_extents[axis] * m.batch_out[axis];
      batch /= m.batch_extents[axis];
    }
    const auto row_stride = static_cast<std::size_t>(m.row_stride);
    const auto column_stride = static_cast<std::size_t>(m.column_stride);
    const std::size_t rows = std::min(tile.rows, static_cast<std::size_t>(m.rows) - top);
    const std::size_t columns = std::min(tile.columns, static_cast<std::size_t>(m.columns) - left);
    alignas(64) T turned[tile_elements<T>];
    from += top * row_stride + left;
    prefetch(from, row_stride, rows, columns);
    turn(from, row_stride, turned, rows, rows, columns);
    to += left * column_stride + top;
    if (rows == column_stride)
      write(to, turned, rows * columns);
    else
      for (std::size_t column = 0; column < columns; ++column)
        write(to + column * column_stride, turned + column * rows, rows);
  }
};

template <class T> CpuStage tile_stage(const Matrices& m, std::size_t bytes) {
  // Lines that two tiles share must not be streamed: each half would go to memory by itself.
  const bool whole_lines = static_cast<std::size_t>(m.column_stride) * sizeof(T) % 64 == 0;
  const TilePlan<T> plan{m, bytes >= cpu::stream_from_bytes && whole_lines};
  const std::size_t tiles = plan.tiles();
  const std::uint32_t slices = slice_count(bytes, std::size_t{64} << 10);
  return {slices, [plan, tiles, slices](const CpuArgs& args, std::uint32_t index) {
            plan.run(args, slice_range(tiles, slices, index, 1));
          }};
}

template <class T> CpuStage gather_stage(const StridedWalk& walk, std::size_t n) {
  const bool streams = n * sizeof(T) >= cpu::stream_from_bytes;
  const std::uint32_t slices = slice_count(n, std::size_t{16} << 10);
  return {slices, [=](const CpuArgs& args, std::uint32_t index) {
            cpu::for_blocks(args.out<T>(), slice_range(n, slices, index), cpu::block_elements,
                            streams, [&](std::size_t first, std::size_t count, T* result) {
                              cpu::gather(args.in<T>(0), walk, 0, first, count, result);
                            });
          }};
}

Result<CpuPlan> plan(const KernelCall& call, std::span<const TensorSpec> outputs) {
  STOKER_ASSIGN(const std::vector<std::size_t> axes, permutation(call));
  const StridedWalk walk = permuted_walk(call.shape(), axes);
  if (walk.dense(0)) return cpu::copy_plan(outputs[0].bytes());
  const std::optional<Matrices> m = matrices(walk);
  CpuPlan plan;
  plan.cost_ns = 50 + static_cast<double>(outputs[0].bytes()) * 0.2;
  const auto add = [&]<class T>() {
    plan.stages.push_back(m ? tile_stage<T>(*m, outputs[0].bytes())
                            : gather_stage<T>(walk, outputs[0].elements()));
  };
  switch (size_of(call.dtype())) {
    case 1: add.template operator()<std::uint8_t>(); break;
    case 2: add.template operator()<std::uint16_t>(); break;
    case 4: add.template operator()<std::uint32_t>(); break;
    default: add.template operator()<std::uint64_t>(); break;
  }
  return plan;
}

}  // namespace

void implement(CpuTable& table) { table.set("transpose", &plan); }

}  // namespace stoker::kernels::transpose::STOKER_ISA
