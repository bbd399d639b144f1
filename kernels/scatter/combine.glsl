// Adds each element of the updates where its index vector points, or multiplies by it if MULTIPLIES is 1, as
// one thread.

#include "indexing/index_at.glsl"
#include "indexing/places.glsl"

#if MULTIPLIES
#define COMBINED(a, b) ((a) * (b))
#else
#define COMBINED(a, b) ((a) + (b))
#endif

// Sums of integers of 32 and 64 bits have atomic operations.
#define EXCHANGES (BITS < 32 || T_IS_FLOAT || MULTIPLIES)

#if EXCHANGES
// The element's bits afterwards.
uint combined(uint bits, T given) {
#if T_IS_f32
  return floatBitsToUint(COMBINED(uintBitsToFloat(bits), given));
#elif T_IS_f16
  return packHalf2x16(vec2(stoker_half(COMBINED(unpackHalf2x16(bits).x, given)), 0.0));
#elif T_IS_bf16
  return stoker_bf16(COMBINED(uintBitsToFloat(bits << 16), given));
#else
  return COMBINED(bits, given);
#endif
}

#include "scatter/exchange.glsl"
#endif

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint item = i;
  uint at = place_in_rest(item);
  at += chosen_place(item);
#if EXCHANGES
  exchange(at, updates_load(i));
#elif BITS == 64
  // The low word's carry goes to the high one whenever it comes: sums do not depend on the order.
  uint low = updates_load(2 * i);
  uint before = atomicAdd(y(2 * at), low);
  uint high = updates_load(2 * i + 1) + (before + low < before ? 1 : 0);
  if (high != 0) atomicAdd(y(2 * at + 1), high);
#else
  atomicAdd(y(at), updates_load(i));
#endif
}
