// What a loop does between two looks at memory that another thread will change.
#pragma once

namespace stoker {

/// Leaves the core to its other thread, or saves power, for some ten nanoseconds.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // `yield` does nothing on most cores
#endif
}

}  // namespace stoker
