// Where memory has no such atomic operation: exchanges the whole word that holds element `at` of y for one with
// combined(its bits, given), until no other thread came between. Needs combined() and BITS.
void exchange(uint at, T given) {
  const uint per_word = 32 / BITS;
  const uint mask = 0xffffffffu >> (32 - BITS);
  uint word = at / per_word;
  uint shift = at % per_word * BITS;
  uint seen = y(word);
  for (;;) {
    uint next = (seen & ~(mask << shift)) | (combined(seen >> shift & mask, given) & mask) << shift;
    if (next == seen) return;
    uint found = atomicCompSwap(y(word), seen, next);
    if (found == seen) return;
    seen = found;
  }
}
