// The inner loop of matrix products and convolutions: a tile of C held in vector registers.
//
//     C[i, j] (+)= sum over t < k of A(i, t) · B(t)[j]      i < rows, j < columns
//
// The tile has as many accumulators as the instruction set has registers for, so that each loaded
// element of A and B is used many times (K. Goto and R. van de Geijn, "Anatomy of High-Performance
// Matrix Multiplication", ACM TOMS 34(3), 2008). Where A and B come from is the caller's: they are
// small objects with an index operator, inlined here.
//
// Compiled once per instruction set: everything lives in a namespace of that set's name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stoker::kernels::matmul::STOKER_ISA {

// Rows × vectors of a full tile: 24 of 32 registers with AVX-512, 12 of 16 with AVX2, 8 of 16 in the
// baseline, which needs one more for each product.
#if defined(__AVX512F__)
inline constexpr std::int64_t vector_bytes = 64, tile_rows = 8, tile_vectors = 3;
#elif defined(__AVX2__)
inline constexpr std::int64_t vector_bytes = 32, tile_rows = 6, tile_vectors = 2;
#else
inline constexpr std::int64_t vector_bytes = 16, tile_rows = 4, tile_vectors = 2;
#endif

template <class T> struct Simd {
  static constexpr std::int64_t lanes = vector_bytes / static_cast<std::int64_t>(sizeof(T));
  typedef T Vector __attribute__((vector_size(vector_bytes)));
  typedef T Unaligned __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
};
template <class T> inline constexpr std::int64_t tile_columns = tile_vectors* Simd<T>::lanes;

/// A as pack_across() and pack_along() pack it (pack.hpp): for each t the panel's rows side by side.
template <class T> struct PackedRows {
  const T* data;
  const T& operator()(std::int64_t i, std::int64_t t) const noexcept {
    return data[t * tile_rows + i];
  }
  [[nodiscard]] PackedRows from(std::int64_t row) const noexcept { return {data + row}; }
};

/// A as it lies in memory.
template <class T> struct StridedRows {
  const T* data;
  std::int64_t row_step;
  std::int64_t column_step;
  const T& operator()(std::int64_t i, std::int64_t t) const noexcept {
    return data[i * row_step + t * column_step];
  }
  [[nodiscard]] StridedRows from(std::int64_t row) const noexcept {
    return {data + row * row_step, row_step, column_step};
  }
};

/// B as pack_b() packs it (blocks.hpp): for each t the panel's columns side by side. The panel streams
/// from the second-level cache, a little ahead of its use.
template <class T> struct PackedColumns {
  const T* data;
  const T* operator[](std::int64_t t) const noexcept {
    constexpr std::int64_t ahead = 20;
    const T* row = data + t * tile_columns<T>;
    for (std::int64_t byte = 0; byte < tile_vectors * vector_bytes; byte += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(row + ahead * tile_columns<T>) + byte, 0, 3);
    return row;
  }
};

/// B as it lies in memory, row-major.
template <class T> struct StridedColumns {
  const T* data;
  std::int64_t row_step;
  const T* operator[](std::int64_t t) const noexcept { return data + t * row_step; }
};

/// One tile of R rows and V vectors. Reads V whole vectors of each B(t), writes V whole vectors of
/// each row of C.
template <int R, int V, class T, class A, class B>
inline void fixed_tile(std::int64_t k, A a, B b, T* c, std::int64_t c_step,
                       bool accumulate) noexcept {
  using Vector = typename Simd<T>::Vector;
  using Unaligned = typename Simd<T>::Unaligned;
  constexpr std::int64_t lanes = Simd<T>::lanes;
  Vector sum[R][V];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      sum[i][v] = Vector{};
      __builtin_prefetch(c + i * c_step + v * lanes, 1, 3);
    }
  for (std::int64_t t = 0; t < k; ++t) {
    const T* row = b[t];
    Vector right[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) right[v] = *reinterpret_cast<const Unaligned*>(row + v * lanes);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      const T left = a(i, t);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      auto* target = reinterpret_cast<Unaligned*>(c + i * c_step + v * lanes);
      Vector value = sum[i][v];
      if (accumulate) value += *target;
      *target = value;
    }
}

template <int R, class T, class A, class B>
[[gnu::noinline]] void vectors_of_tile(std::int64_t vectors, std::int64_t k, A a, B b, T* c,
                                       std::int64_t c_step, bool accumulate) noexcept {
  static_assert(tile_vectors <= 3);
  if (vectors == 1) return fixed_tile<R, 1>(k, a, b, c, c_step, accumulate);
  if constexpr (tile_vectors == 3) {
    if (vectors == 3) return fixed_tile<R, 3>(k, a, b, c, c_step, accumulate);
  }
  fixed_tile<R, 2>(k, a, b, c, c_step, accumulate);
}

/// Any number of rows up to tile_rows; the columns are whole vectors.
template <class T, class A, class B>
inline void rows_of_tile(std::int64_t rows, std::int64_t vectors, std::int64_t k, A a, B b, T* c,
                         std::int64_t c_step, bool accumulate) noexcept {
  if (rows == tile_rows) return vectors_of_tile<tile_rows>(vectors, k, a, b, c, c_step, accumulate);
  std::int64_t first = 0;
  const auto step = [&]<int R>() {
    if (rows - first < R) return;
    vectors_of_tile<R>(vectors, k, a.from(first), b, c + first * c_step, c_step, accumulate);
    first += R;
  };
  if constexpr (tile_rows > 4) step.template operator()<4>();
  step.template operator()<2>();
  step.template operator()<1>();
}

/// Any tile up to tile_rows × tile_columns. B(t) must be readable to the next whole vector.
template <class T, class A, class B>
inline void tile(std::int64_t rows, std::int64_t columns, std::int64_t k, A a, B b, T* c,
                 std::int64_t c_step, bool accumulate) noexcept {
  constexpr std::int64_t lanes = Simd<T>::lanes;
  const std::int64_t vectors = (columns + lanes - 1) / lanes;
  if (columns == vectors * lanes)
    return rows_of_tile(rows, vectors, k, a, b, c, c_step, accumulate);
  // C ends inside a vector: compute beside it, then copy what belongs there.
  alignas(64) T whole[tile_rows * tile_columns<T>];
  rows_of_tile(rows, vectors, k, a, b, whole, tile_columns<T>, false);
  for (std::int64_t i = 0; i < rows; ++i) {
    T* target = c + i * c_step;
    const T* source = whole + i * tile_columns<T>;
    for (std::int64_t j = 0; j < columns; ++j)
      target[j] = accumulate ? target[j] + source[j] : source[j];
  }
}

}  // namespace stoker::kernels::matmul::STOKER_ISA
