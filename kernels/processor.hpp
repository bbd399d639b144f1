// Which of the instruction sets that CPU kernels are compiled for this processor has.
#pragma once

namespace stoker::processor {

inline bool has_v1() noexcept { return true; }

#if defined(__x86_64__)
// The features are listed one by one because not every compiler knows the levels' names.
inline bool has_v3() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
inline bool has_v4() noexcept {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
inline bool has_v3() noexcept { return false; }
inline bool has_v4() noexcept { return false; }
#endif

}  // namespace stoker::processor
