// The block function Threefry-2x32 with 20 rounds: 64 bits of counter and key to 64 random bits.
//
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11. Rotations and
// parity are those of the authors' Random123; random.glsl holds the same in GLSL. Compiled once per
// instruction set.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

namespace stoker::kernels::random_bits::STOKER_ISA {

struct Words {
  std::uint32_t x0;
  std::uint32_t x1;
};

/// The key with its parity word, as the rounds add them in turn.
using KeySchedule = std::array<std::uint32_t, 3>;

inline KeySchedule key_schedule(std::uint32_t k0, std::uint32_t k1) noexcept {
  return {k0, k1, k0 ^ k1 ^ 0x1bd11bdaU};
}

/// One of 20 rounds, with the injection of the key after every fourth.
template <unsigned R>
[[gnu::always_inline]] inline void mix_round(const KeySchedule& key, Words& x) noexcept {
  constexpr std::array<int, 8> rotations{13, 15, 26, 6, 17, 29, 16, 24};
  constexpr int left = rotations[R % 8];
  x.x0 += x.x1;
  x.x1 = (x.x1 << left | x.x1 >> (32 - left)) ^ x.x0;
  if constexpr (R % 4 == 3) {
    constexpr unsigned injection = R / 4 + 1;
    x.x0 += key[injection % 3];
    x.x1 += key[(injection + 1) % 3] + injection;
  }
}

template <unsigned... R>
[[gnu::always_inline]] inline void mix_rounds(const KeySchedule& key, Words& x,
                                              std::integer_sequence<unsigned, R...>) noexcept {
  (mix_round<R>(key, x), ...);
}

/// Unrolled and inlined by construction, so that a loop over many blocks becomes vector code.
[[gnu::always_inline]] inline Words threefry(const KeySchedule& key, Words x) noexcept {
  x.x0 += key[0];
  x.x1 += key[1];
  mix_rounds(key, x, std::make_integer_sequence<unsigned, 20>{});
  return x;
}

}  // namespace stoker::kernels::random_bits::STOKER_ISA
