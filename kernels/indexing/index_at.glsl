// INDICES(i): word i of the indices, as the binding loads it.
#ifndef INDICES
#define INDICES(i) indices_load(i)
#endif

// Entry i of the indices, clamped to 0 … last. 64-bit ones come as two words, the low one first.
uint index_at(uint i, uint last) {
  if (index_words == 2) {
    uint high = INDICES(2 * i + 1);
    if (index_signed != 0 && int(high) < 0) return 0;
    return high != 0 ? last : min(uint(INDICES(2 * i)), last);
  }
  uint index = INDICES(i);
  return index_signed != 0 && index >> (INDEX_BITS - 1) != 0 ? 0 : min(index, last);
}
