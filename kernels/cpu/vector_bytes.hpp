// How wide the vectors are that kernels compute in. Compiled once per instruction set.
#pragma once

#include <cstddef>

namespace stoker::kernels::cpu::STOKER_ISA {

#if defined(__AVX512BW__) && defined(__AVX512VL__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

}  // namespace stoker::kernels::cpu::STOKER_ISA
