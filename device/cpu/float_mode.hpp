// What a thread that runs kernels does with subnormal numbers, on processors that have a switch for it.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace stoker::device::cpu {

#if defined(__SSE2__)
/// This thread's control register; the bits say that what is computed becomes 0, and what is read.
struct FloatControl {
  using Bits = unsigned;
  static constexpr Bits flush = 0x8000 | 0x0040;
  static Bits read() noexcept { return _mm_getcsr(); }
  static void write(Bits bits) noexcept { _mm_setcsr(bits); }
};
#elif defined(__aarch64__)
/// This thread's control register; one bit (FZ) is for both, what is computed and what is read.
struct FloatControl {
  using Bits = std::uint64_t;
  static constexpr Bits flush = Bits{1} << 24;
  static Bits read() noexcept {
    Bits bits = 0;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void write(Bits bits) noexcept { asm volatile("msr fpcr, %0" : : "r"(bits) : "memory"); }
};
#else
/// There is no switch.
struct FloatControl {
  using Bits = unsigned;
  static constexpr Bits flush = 0;
  static Bits read() noexcept { return 0; }
  static void write(Bits) noexcept {}
};
#endif

/// While it lives, and if it is `wanted`, the thread takes subnormal numbers for 0 and makes none. On the
/// thread that made it, which may be a caller's: how it was before is restored.
class FlushSubnormals {
 public:
  explicit FlushSubnormals(bool wanted) noexcept : changes_{wanted} {
    if (!changes_) return;
    before_ = FloatControl::read();
    changes_ = (before_ | FloatControl::flush) != before_;
    if (changes_) FloatControl::write(before_ | FloatControl::flush);
  }
  ~FlushSubnormals() {
    if (changes_) FloatControl::write(before_);
  }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  bool changes_;
  FloatControl::Bits before_ = 0;
};

}  // namespace stoker::device::cpu
