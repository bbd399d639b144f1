// Adds each element of the updates where its index vector points, as one thread. Where memory has no
// such atomic addition, a loop exchanges the whole word that holds the element until no other thread
// came between.

#include "indexing/index_at.glsl"
#include "indexing/places.glsl"

#if BITS < 32 || T_IS_FLOAT
// The element's bits after the addition.
uint sum(uint bits, T added) {
#if T_IS_f32
  return floatBitsToUint(uintBitsToFloat(bits) + added);
#elif T_IS_f16
  return packHalf2x16(vec2(stoker_half(unpackHalf2x16(bits).x + added), 0.0));
#elif T_IS_bf16
  return stoker_bf16(uintBitsToFloat(bits << 16) + added);
#else
  return bits + added;
#endif
}
#endif

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint item = i;
  uint at = place_in_rest(item);
  at += chosen_place(item);
#if BITS == 64
  // The low word's carry goes to the high one whenever it comes: sums do not depend on the order.
  uint low = updates_load(2 * i);
  uint before = atomicAdd(y(2 * at), low);
  uint high = updates_load(2 * i + 1) + (before + low < before ? 1 : 0);
  if (high != 0) atomicAdd(y(2 * at + 1), high);
#elif BITS == 32 && !T_IS_FLOAT
  atomicAdd(y(at), updates_load(i));
#else
  const uint per_word = 32 / BITS;
  const uint mask = 0xffffffffu >> (32 - BITS);
  uint word = at / per_word;
  uint shift = at % per_word * BITS;
  T added = updates_load(i);
  uint seen = y(word);
  for (;;) {
    uint next = (seen & ~(mask << shift)) | (sum(seen >> shift & mask, added) & mask) << shift;
    uint found = atomicCompSwap(y(word), seen, next);
    if (found == seen) break;
    seen = found;
  }
#endif
}
