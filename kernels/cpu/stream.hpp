// Writing results to memory: through the cache while they fit there, past it when they do not.
//
// A store that misses the cache first reads the line it overwrites; non-temporal stores save that
// third of the traffic of a copy. They lose when the next kernel would have found the result in the
// cache, so only outputs beyond `stream_from_bytes` use them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stoker/kernels/cpu/convert.hpp"
#include "stoker/kernels/cpu_plan.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stoker::kernels::cpu::STOKER_ISA {

/// Outputs of at least this many bytes are written past the cache.
inline constexpr std::size_t stream_from_bytes = std::size_t{16} << 20;

/// Elements computed at a time: a few blocks fit the first-level cache, and the stack of a fiber,
/// on which a short kernel may run. Larger working memory is a plan's scratch.
inline constexpr std::size_t block_elements = 512;

/// memcpy with non-temporal stores for the whole 64-byte lines of `to`, which may start anywhere.
/// Other threads see the bytes only after stream_fence().
inline void stream_copy(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::size_t head =
      std::min(bytes, static_cast<std::size_t>(-reinterpret_cast<std::uintptr_t>(target) & 63U));
  std::memcpy(target, source, head);
  std::size_t i = head;
  for (; i + 64 <= bytes; i += 64) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(target + i), _mm512_loadu_si512(source + i));
#elif defined(__AVX__)
    for (std::size_t k = 0; k < 64; k += 32)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(target + i + k),
                          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + i + k)));
#else
    for (std::size_t k = 0; k < 64; k += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + i + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i + k)));
#endif
  }
  std::memcpy(target + i, source + i, bytes - i);
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Orders the streamed stores of this thread before whatever tells others that they are done.
inline void stream_fence() noexcept {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

/// Computes `range` of `out` block by block. `body(first, n, result)` writes elements
/// [first, first + n) as the compute type to `result`, which may be the output itself.
/// `step` ≤ block_elements is the block's length.
template <class T, class Body>
inline void for_blocks(T* out, SliceRange range, std::size_t step, bool streams, Body&& body) {
  alignas(64) Compute<T> result[block_elements];
  alignas(64) T staged[std::is_same_v<T, Compute<T>> ? 1 : block_elements];
  for (std::size_t first = range.begin; first < range.end; first += step) {
    const std::size_t n = std::min(step, range.end - first);
    if constexpr (std::is_same_v<T, Compute<T>>) {
      if (!streams) {
        body(first, n, out + first);
        continue;
      }
      body(first, n, result);
      stream_copy(out + first, result, n * sizeof(T));
    } else {
      body(first, n, result);
      store_block(result, streams ? staged : out + first, n);
      if (streams) stream_copy(out + first, staged, n * sizeof(T));
    }
  }
  if (streams) stream_fence();
}

}  // namespace stoker::kernels::cpu::STOKER_ISA
