// What a thread that runs kernels does with subnormal numbers, on processors that have a switch for it.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stoker::device::cpu {

/// While it lives, and if it is `wanted`, the thread takes subnormal numbers for 0 and makes none. On the
/// thread that made it, which may be a caller's: how it was before is restored.
class FlushSubnormals {
 public:
#if defined(__SSE2__)
  explicit FlushSubnormals(bool wanted) noexcept : changes_{wanted} {
    if (!changes_) return;
    constexpr unsigned to_zero = 0x8000;    // what is computed
    constexpr unsigned are_zeros = 0x0040;  // what is read
    before_ = _mm_getcsr();
    changes_ = (before_ | to_zero | are_zeros) != before_;
    if (changes_) _mm_setcsr(before_ | to_zero | are_zeros);
  }
  ~FlushSubnormals() {
    if (changes_) _mm_setcsr(before_);
  }

 private:
  bool changes_;
  unsigned before_ = 0;
#else
  explicit FlushSubnormals(bool) noexcept {}
#endif

 public:
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;
};

}  // namespace stoker::device::cpu
