// y[o, k, i] = x[o, indices[o, k, i], i]: a thread fetches `unit` adjacent elements of y.

#include "indexing/index_at.glsl"

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
