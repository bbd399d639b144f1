// Sums, products, extrema and truths of contiguous elements and of columns, in vectors.
//
// A sum runs in four vectors over blocks, whose sums are then added in double (floats) or wrap
// (integers): its error grows with the block, not with the whole. Products run likewise. Extrema
// keep NaN.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "stoker/kernels/cpu/stream.hpp"
#include "stoker/kernels/cpu/vector_bytes.hpp"

namespace stoker::kernels::cpu::STOKER_ISA {

struct Sum {
  template <class A> static constexpr A identity() noexcept { return A{0}; }
  /// `b` into `a`, for scalars and vectors alike.
  template <class V> static V combine(const V& a, const V& b) noexcept { return a + b; }
};

struct Max {
  template <class A> static constexpr A identity() noexcept {
    using Limits = std::numeric_limits<A>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <class V> static V combine(const V& a, const V& b) noexcept {
    return (b > a) | (b != b) ? b : a;
  }
};

struct Min {
  template <class A> static constexpr A identity() noexcept {
    using Limits = std::numeric_limits<A>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class V> static V combine(const V& a, const V& b) noexcept {
    return (b < a) | (b != b) ? b : a;
  }
};

struct Product {
  template <class A> static constexpr A identity() noexcept { return A{1}; }
  template <class V> static V combine(const V& a, const V& b) noexcept { return a * b; }
};

/// Whether all elements are true; elements of any type count as 1 where they are not zero, else 0.
struct All {
  static constexpr bool of_truths = true;
  template <class A> static constexpr A identity() noexcept { return A{1}; }
  template <class V> static V combine(const V& a, const V& b) noexcept { return a & b; }
};

/// Whether any element is true.
struct Any {
  static constexpr bool of_truths = true;
  template <class A> static constexpr A identity() noexcept { return A{0}; }
  template <class V> static V combine(const V& a, const V& b) noexcept { return a | b; }
};

template <class Op> inline constexpr bool takes_truths = requires { Op::of_truths; };

/// Whether the result depends on the order of the elements, through its rounding.
template <class Op, class A>
inline constexpr bool rounds = std::is_floating_point_v<A> &&
                               (std::is_same_v<Op, Sum> || std::is_same_v<Op, Product>);

/// What totals of many blocks are kept in.
template <class Op, class A>
using Total = std::conditional_t<rounds<Op, A> && std::is_same_v<A, float>, double, A>;

template <class A> using Lanes [[gnu::vector_size(vector_bytes)]] = A;
template <class A> inline constexpr std::size_t lane_count = vector_bytes / sizeof(A);
/// Elements of a block: each of its four vectors takes up to 64 in a chain.
template <class A> inline constexpr std::size_t chain_block = 64 * 4 * lane_count<A>;

template <class A> inline Lanes<A> load_lanes(const A* from) noexcept {
  Lanes<A> lanes;
  std::memcpy(&lanes, from, vector_bytes);
  return lanes;
}

template <class Op, class A> inline Lanes<A> identity_lanes() noexcept {
  return Lanes<A>{} + Op::template identity<A>();
}

/// The lanes with each pair `Step` apart exchanged.
template <std::size_t Step, class A, std::size_t... I>
inline Lanes<A> exchanged(const Lanes<A>& lanes, std::index_sequence<I...>) noexcept {
  return __builtin_shufflevector(lanes, lanes, (I ^ Step)...);
}

/// `Op` over the lanes of one vector, as a tree.
template <class Op, class A, std::size_t Step = lane_count<A> / 2>
inline A across(const Lanes<A>& lanes) noexcept {
  if constexpr (Step == 0)
    return lanes[0];
  else
    return across<Op, A, Step / 2>(
        Op::combine(lanes, exchanged<Step, A>(lanes, std::make_index_sequence<lane_count<A>>{})));
}

/// `Op` over `n` elements of the type it computes in.
template <class Op, class A> inline A accumulate_block(const A* x, std::size_t n) noexcept {
  constexpr std::size_t width = lane_count<A>;
  if (n < width) {
    A result = Op::template identity<A>();
    for (std::size_t i = 0; i < n; ++i) result = static_cast<A>(Op::combine(result, x[i]));
    return result;
  }
  const Lanes<A> start = identity_lanes<Op, A>();
  Lanes<A> a = start;
  std::size_t i = 0;
  if (n >= 4 * width) {
    // Comparisons take long enough to keep the next loads from being begun in time; a page ahead.
    // Past the end there is nothing to fetch, and no harm in asking.
    constexpr std::uintptr_t ahead = 4096;
    Lanes<A> b = start, c = start, d = start;
    for (; i + 4 * width <= n; i += 4 * width) {
      for (std::size_t k = 0; k < 4 * width; k += 64 / sizeof(A))
        __builtin_prefetch(
            reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(x + i + k) + ahead), 0,
            3);
      a = Op::combine(a, load_lanes(x + i));
      b = Op::combine(b, load_lanes(x + i + width));
      c = Op::combine(c, load_lanes(x + i + 2 * width));
      d = Op::combine(d, load_lanes(x + i + 3 * width));
    }
    a = Op::combine(Op::combine(a, b), Op::combine(c, d));
  }
  for (; i + width <= n; i += width) a = Op::combine(a, load_lanes(x + i));
  if (i < n) {
    Lanes<A> rest = start;
    std::memcpy(&rest, x + i, (n - i) * sizeof(A));
    a = Op::combine(a, rest);
  }
  return across<Op, A>(a);
}

/// `Op` over each of `rows` rows of `n` elements, one after the other. Rows shorter than a vector
/// are taken a vector of rows at a time.
template <class Op, class A>
inline void accumulate_rows(const A* x, std::size_t rows, std::size_t n, A* results) noexcept {
  constexpr std::size_t width = lane_count<A>;
  std::size_t row = 0;
  if (n < width)
    for (; row + width <= rows; row += width) {
      A part[width];
      std::fill_n(part, width, Op::template identity<A>());
      const A* from = x + row * n;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t lane = 0; lane < width; ++lane)
          part[lane] = static_cast<A>(Op::combine(part[lane], from[lane * n + i]));
      std::copy_n(part, width, results + row);
    }
  for (; row < rows; ++row) results[row] = accumulate_block<Op>(x + row * n, n);
}

/// The elements of `from` as the type to compute in, which may differ from Compute<S> (integers
/// that are summed in a wider type, or averaged in float).
template <class A, class S> inline void widen(const S* from, A* to, std::size_t n) noexcept {
  if constexpr (std::is_same_v<Compute<S>, A>) {
    load_block(from, to, n);
  } else if constexpr (std::is_same_v<S, bool>) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) to[i] = bytes[i] != 0 ? A{1} : A{0};
  } else {
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<A>(from[i]);
  }
}

/// Whether `Op` takes stored elements as they are.
template <class Op, class A, class S>
inline constexpr bool takes_stored = std::is_same_v<S, A> && !takes_truths<Op>;

/// The elements of `from` as `Op` takes them: their values, or whether they differ from zero.
template <class Op, class A, class S>
inline void operands(const S* from, A* to, std::size_t n) noexcept {
  if constexpr (!takes_truths<Op>) {
    widen(from, to, n);
  } else if constexpr (std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>) {
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) to[i] = (from[i].bits & 0x7fffU) != 0;
  } else if constexpr (std::is_same_v<S, bool>) {
    widen(from, to, n);
  } else {
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i] != S{0};
  }
}

/// `Op` over `n` stored elements.
template <class Op, class A, class S> inline A accumulate(const S* x, std::size_t n) noexcept {
  auto total = static_cast<Total<Op, A>>(Op::template identity<A>());
  if constexpr (takes_stored<Op, A, S>) {
    if (n <= chain_block<A>) return accumulate_block<Op>(x, n);
    for (std::size_t i = 0; i < n; i += chain_block<A>)
      total = Op::combine(total, static_cast<Total<Op, A>>(
                                     accumulate_block<Op>(x + i, std::min(chain_block<A>, n - i))));
  } else {
    alignas(64) A wide[block_elements];
    for (std::size_t i = 0; i < n; i += block_elements) {
      const std::size_t count = std::min(block_elements, n - i);
      operands<Op>(x + i, wide, count);
      total = Op::combine(total, static_cast<Total<Op, A>>(accumulate_block<Op, A>(wide, count)));
    }
  }
  return static_cast<A>(total);
}

/// Elements as they are stored, whatever their type, for an `Op` that computes in A. What takes them so is
/// compiled once for A instead of once for each type that is stored.
template <class A> struct Stored {
  using Convert = void (*)(const std::byte* from, A* to, std::size_t n) noexcept;

  const std::byte* data = nullptr;
  std::size_t bytes = sizeof(A);  ///< of one element
  Convert convert = nullptr;      ///< to what `Op` takes; null: they are that

  [[nodiscard]] Stored at(std::size_t i) const noexcept {
    return {data + i * bytes, bytes, convert};
  }
  [[nodiscard]] const A* values() const noexcept { return reinterpret_cast<const A*>(data); }
};

template <class Op, class A, class S> inline Stored<A> stored(const S* x = nullptr) noexcept {
  const auto* data = reinterpret_cast<const std::byte*>(x);
  if constexpr (takes_stored<Op, A, S>)
    return {data, sizeof(S), nullptr};
  else
    return {data, sizeof(S), [](const std::byte* from, A* to, std::size_t n) noexcept {
              operands<Op>(reinterpret_cast<const S*>(from), to, n);
            }};
}

template <class Op, class A> inline A accumulate(const Stored<A>& x, std::size_t n) noexcept {
  if constexpr (!takes_truths<Op>)
    if (!x.convert) return accumulate<Op, A>(x.values(), n);
  auto total = static_cast<Total<Op, A>>(Op::template identity<A>());
  alignas(64) A wide[block_elements];
  for (std::size_t i = 0; i < n; i += block_elements) {
    const std::size_t count = std::min(block_elements, n - i);
    x.convert(x.at(i).data, wide, count);
    total = Op::combine(total, static_cast<Total<Op, A>>(accumulate_block<Op, A>(wide, count)));
  }
  return static_cast<A>(total);
}

/// `Op` over each of `rows` rows of `n` elements, several in one block.
template <class Op, class A>
inline void accumulate_rows(const Stored<A>& x, std::size_t rows, std::size_t n, A* results,
                            A* wide) noexcept {
  if constexpr (!takes_truths<Op>)
    if (!x.convert) return accumulate_rows<Op>(x.values(), rows, n, results);
  x.convert(x.data, wide, rows * n);
  accumulate_rows<Op>(static_cast<const A*>(wide), rows, n, results);
}

/// y[j] = Op(y[j], a[j], b[j], c[j], d[j]).
template <class Op, class A>
inline void combine_four(const A* a, const A* b, const A* c, const A* d, A* y,
                         std::size_t n) noexcept {
  constexpr std::size_t width = lane_count<A>;
  std::size_t j = 0;
  for (; j + width <= n; j += width) {
    const Lanes<A> lanes = Op::combine(
        load_lanes(y + j), Op::combine(Op::combine(load_lanes(a + j), load_lanes(b + j)),
                                       Op::combine(load_lanes(c + j), load_lanes(d + j))));
    std::memcpy(y + j, &lanes, vector_bytes);
  }
  for (; j < n; ++j)
    y[j] = static_cast<A>(
        Op::combine(y[j], static_cast<A>(Op::combine(static_cast<A>(Op::combine(a[j], b[j])),
                                                     static_cast<A>(Op::combine(c[j], d[j]))))));
}
template <class Op, class A> inline void combine_one(const A* a, A* y, std::size_t n) noexcept {
  constexpr std::size_t width = lane_count<A>;
  std::size_t j = 0;
  for (; j + width <= n; j += width) {
    const Lanes<A> lanes = Op::combine(load_lanes(y + j), load_lanes(a + j));
    std::memcpy(y + j, &lanes, vector_bytes);
  }
  for (; j < n; ++j) y[j] = static_cast<A>(Op::combine(y[j], a[j]));
}

/// into[j] = Op(into[j], rows of x at j), for `rows` rows `stride` elements apart and n columns.
template <class Op, class A>
inline void accumulate_columns(const Stored<A>& x, std::size_t stride, std::size_t rows,
                               std::size_t n, A* into) noexcept {
  std::size_t row = 0;
  if (!x.convert) {
    for (; row + 4 <= rows; row += 4) {
      const A* from = x.values() + row * stride;
      combine_four<Op>(from, from + stride, from + 2 * stride, from + 3 * stride, into, n);
    }
    for (; row < rows; ++row) combine_one<Op>(x.values() + row * stride, into, n);
    return;
  }
  constexpr std::size_t block = 256;
  alignas(64) A wide[4][block];
  for (; row < rows; row += 4) {
    const std::size_t height = std::min<std::size_t>(4, rows - row);
    for (std::size_t j = 0; j < n; j += block) {
      const std::size_t count = std::min(block, n - j);
      for (std::size_t k = 0; k < height; ++k)
        x.convert(x.at((row + k) * stride + j).data, wide[k], count);
      if (height == 4)
        combine_four<Op, A>(wide[0], wide[1], wide[2], wide[3], into + j, count);
      else
        for (std::size_t k = 0; k < height; ++k) combine_one<Op, A>(wide[k], into + j, count);
    }
  }
}
template <class Op, class A, class S>
inline void accumulate_columns(const S* x, std::size_t stride, std::size_t rows, std::size_t n,
                               A* into) noexcept {
  accumulate_columns<Op, A>(stored<Op, A>(x), stride, rows, n, into);
}

/// plan.operator()<A, T>() for elements of a dtype but bool, read as T, that Op combines in type A. No plan: bool.
template <class Op, class Plan> [[nodiscard]] CpuPlan plan_numeric(DType dtype, const Plan& plan) {
  return visit_dtype(dtype, [&]<class T>() -> CpuPlan {
    if constexpr (std::is_same_v<T, bool>) {
      return {};
    } else if constexpr (std::is_integral_v<T> &&
                         (std::is_same_v<Op, Sum> || std::is_same_v<Op, Product>)) {
      // Sums and products wrap, so signed ones are formed unsigned.
      using A = std::make_unsigned_t<T>;
      return plan.template operator()<A, A>();
    } else {
      return plan.template operator()<Compute<T>, T>();
    }
  });
}

}  // namespace stoker::kernels::cpu::STOKER_ISA
