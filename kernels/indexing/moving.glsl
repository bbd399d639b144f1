// Moves elements between rows of a tensor and a dense one: from the tensor x to the dense y, or with `puts` from
// the dense x to the tensor y. A thread moves `unit` elements that are adjacent on the dense side, from `first`
// on; with `wide` they are adjacent on both sides.
//
// The text before has uint row_start(uint row): where a row of the dense side begins in the tensor. There its
// elements are `step` apart.
void move(uint first, uint row_length, uint step) {
  uint row = first / row_length;
  uint column = first - row * row_length;
  uint at = row_start(row) + column * step;
  if (unit == 1) {
    if (puts != 0)
      y_store(at, x_load(first));
    else
      y_store(first, x_load(at));
    return;
  }
#if !T_IS_u64
  if (wide != 0) {
    if (puts != 0)
      y_store4(at / 4, x_load4(first / 4));
    else
      y_store4(first / 4, x_load4(at / 4));
    return;
  }
  uvec4 places;
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    places[i] = at;
    at += step;
    if (++column == row_length && first + i + 1 < n) {
      column = 0;
      at = row_start(++row);
    }
  }
  if (first + 4 > n) {
    for (uint i = 0; first + i < n; ++i) {
      if (puts != 0)
        y_store(places[i], x_load(first + i));
      else
        y_store(first + i, x_load(places[i]));
    }
  } else if (puts != 0) {
    T4 held = x_load4(first / 4);
    [[unroll]] for (uint i = 0; i < 4; ++i) y_store(places[i], held[i]);
  } else {
    y_store4(first / 4, T4(x_load(places.x), x_load(places.y), x_load(places.z), x_load(places.w)));
  }
#endif
}
