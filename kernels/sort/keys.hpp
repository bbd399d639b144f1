// Unsigned keys that order as the elements do, and sorting by them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "stoker/kernels/cpu/convert.hpp"

namespace stoker::kernels::sort::STOKER_ISA {

template <class T>
using Key = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
inline constexpr bool is_real =
    std::is_floating_point_v<stoker::kernels::cpu::STOKER_ISA::Compute<T>>;

template <class T>
inline constexpr Key<T> top_bit = static_cast<Key<T>>(Key<T>{1} << (8 * sizeof(T) - 1));

/// The bits of infinity: what lies above, without the sign, is NaN.
template <class T>
inline constexpr Key<T> infinity_bits = std::is_same_v<T, double>
                                            ? static_cast<Key<T>>(0x7ff0000000000000)
                                        : std::is_same_v<T, float> ? static_cast<Key<T>>(0x7f800000)
                                        : std::is_same_v<T, Half>  ? static_cast<Key<T>>(0x7c00)
                                                                   : static_cast<Key<T>>(0x7f80);

template <class T> inline bool is_nan(const T& element) noexcept {
  if constexpr (is_real<T>)
    return static_cast<Key<T>>(std::bit_cast<Key<T>>(element) & ~top_bit<T>) > infinity_bits<T>;
  else
    return false;
}

template <class T> inline bool is_zero(const T& element) noexcept {
  return static_cast<Key<T>>(std::bit_cast<Key<T>>(element) << 1) == 0;
}

/// NaN has the greatest key. With `Merged`, -0 has the key of 0, else the one below it. `flip` is
/// all ones for descending order, else 0.
template <bool Merged, class T> inline Key<T> key_of(const T& element, Key<T> flip) noexcept {
  auto bits = std::bit_cast<Key<T>>(element);
  if constexpr (is_real<T>) {
    constexpr Key<T> top = top_bit<T>;
    const bool nan = is_nan(element);
    if (Merged && bits == top) bits = 0;
    bits = static_cast<Key<T>>(bits & top ? ~bits : bits | top);
    if (nan) bits = static_cast<Key<T>>(~Key<T>{0});
  } else if constexpr (std::is_signed_v<T>) {
    bits ^= top_bit<T>;
  }
  return static_cast<Key<T>>(bits ^ flip);
}

/// The element of a key that was formed without `Merged`; every NaN becomes the same one.
template <class T> inline T element_of(Key<T> key, Key<T> flip) noexcept {
  key = static_cast<Key<T>>(key ^ flip);
  if constexpr (is_real<T>)
    key = static_cast<Key<T>>(key & top_bit<T> ? key ^ top_bit<T> : ~key);
  else if constexpr (std::is_signed_v<T>)
    key ^= top_bit<T>;
  return std::bit_cast<T>(key);
}

/// A key with the element's position in its row.
template <class K> struct Indexed {
  K key;
  std::uint32_t index;
  friend bool operator<(const Indexed& a, const Indexed& b) noexcept {
    return a.key < b.key || (a.key == b.key && a.index < b.index);
  }
};

template <class K> inline K key_in(K item) noexcept { return item; }
template <class K> inline K key_in(const Indexed<K>& item) noexcept { return item.key; }

/// Counters that radix_sort() needs: one for each value of each byte of the widest key.
inline constexpr std::size_t counters = 8 * 256;
/// Rows up to this length are sorted by comparison.
inline constexpr std::size_t short_row = 200;

/// Sorts `items` by their keys, stably, byte by byte from the lowest; bytes that all keys share are
/// skipped. Returns where the result is: `items` or `other`, which has room for as many.
template <class Item>
Item* radix_sort(Item* items, Item* other, std::size_t n, std::uint32_t* counts) {
  using K = decltype(key_in(*items));
  if (n <= short_row) {
    std::sort(items, items + n);
    return items;
  }
  constexpr std::size_t bytes = sizeof(K);
  std::fill_n(counts, bytes * 256, 0U);
  for (std::size_t i = 0; i < n; ++i) {
    const K key = key_in(items[i]);
    for (std::size_t byte = 0; byte < bytes; ++byte)
      ++counts[byte * 256 + static_cast<std::uint8_t>(key >> (8 * byte))];
  }
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    std::uint32_t* count = counts + byte * 256;
    if (count[static_cast<std::uint8_t>(key_in(items[0]) >> (8 * byte))] == n) continue;
    std::uint32_t start = 0;
    for (std::size_t value = 0; value < 256; ++value) start += std::exchange(count[value], start);
    for (std::size_t i = 0; i < n; ++i)
      other[count[static_cast<std::uint8_t>(key_in(items[i]) >> (8 * byte))]++] = items[i];
    std::swap(items, other);
  }
  return items;
}

/// How many of the first `k` items of a stable merge of a and b come from a.
template <class Item>
std::size_t merge_split(const Item* a, std::size_t n_a, const Item* b, std::size_t n_b,
                        std::size_t k) noexcept {
  std::size_t low = k > n_b ? k - n_b : 0;
  std::size_t high = std::min(k, n_a);
  while (low < high) {
    const std::size_t i = (low + high) / 2;
    if (key_in(b[k - i - 1]) < key_in(a[i]))
      high = i;
    else
      low = i + 1;
  }
  return low;
}

/// Items [begin, end) of the merge of items [0, half) and [half, n), which are sorted.
template <class Item>
void merge_part(const Item* items, std::size_t half, std::size_t n, std::size_t begin,
                std::size_t end, Item* to) {
  half = std::min(half, n);
  const Item* b = items + half;
  const std::size_t first = merge_split(items, half, b, n - half, begin);
  const std::size_t last = merge_split(items, half, b, n - half, end);
  std::merge(items + first, items + last, b + (begin - first), b + (end - last), to,
             [](const Item& l, const Item& r) { return key_in(l) < key_in(r); });
}

}  // namespace stoker::kernels::sort::STOKER_ISA
