// Leaves the larger of each element of the updates and the one where its index vector points, or the smaller, as one
// thread. Numbers are compared as bits in the order of unsigned integers, so nothing is rounded or flushed,
// -0 is below 0, and the result does not depend on which thread comes first. NaN stays and spreads.

#include "indexing/index_at.glsl"
#include "indexing/places.glsl"

const uint SIGN = 1u << (BITS - 1);

uint ordered(uint bits) {
  if (is_signed == 0) return bits;
  // Negative floats are larger the further they are from 0; negative integers are not.
  if (infinite != 0 && (bits & SIGN) != 0) return ~bits & 0xffffffffu >> (32 - BITS);
  return bits ^ SIGN;
}

bool is_nan(uint bits) { return infinite != 0 && (bits & SIGN - 1) > infinite; }

uint combined(uint bits, T given) {
  if (is_nan(bits)) return bits;
  if (is_nan(given)) return given;
  bool replaces = smaller != 0 ? ordered(given) < ordered(bits) : ordered(given) > ordered(bits);
  return replaces ? given : bits;
}

#include "scatter/exchange.glsl"

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint item = i;
  uint at = place_in_rest(item);
  at += chosen_place(item);
  exchange(at, updates_load(i));
}
