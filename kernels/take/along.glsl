// y[o, k, i] = x[o, indices[o, k, i], i]: a thread fetches `unit` adjacent elements of y.

// Entry i of the indices, clamped to 0 … last. 64-bit ones come as two words, the low one first.
uint index_at(uint i, uint last) {
  if (index_words == 2) {
    uint high = indices_load(2 * i + 1);
    if (index_signed != 0 && int(high) < 0) return 0;
    return high != 0 ? last : min(uint(indices_load(2 * i)), last);
  }
  uint index = indices_load(i);
  return index_signed != 0 && index >> (INDEX_BITS - 1) != 0 ? 0 : min(index, last);
}

uint place(uint i) {
  uint outer = i / block;
  uint column = i - outer * block;
  return (outer * extent + index_at(i, extent - 1)) * inner + column % inner;
}

void main() {
  uint first = stoker_index() * unit;
#if !T_IS_u64
  if (unit == 4 && first + 4 <= n) {
    y_store4(first / 4, T4(x_load(place(first)), x_load(place(first + 1)), x_load(place(first + 2)),
                           x_load(place(first + 3))));
    return;
  }
#endif
  for (uint i = first; i < min(n, first + unit); ++i) y_store(i, x_load(place(i)));
}
