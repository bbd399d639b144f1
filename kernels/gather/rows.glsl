// Moves the rows of a tensor that index vectors choose: from the tensor x to the dense y, or with
// `puts` from the dense x to the tensor y. A thread moves `unit` elements that are adjacent on the
// dense side. With `wide` they are adjacent on both sides.

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

// Where run `run` of the dense side begins in the tensor.
uint run_start(uint run) {
  uint at = 0;
  for (uint axis = coordinates + rest_axes; axis > coordinates; --axis) {
    uint rest = run / extents[axis - 1];
    at += (run - rest * extents[axis - 1]) * strides[axis - 1];
    run = rest;
  }
  uint outer = run / count;
  uint item = run - outer * count;
  at += outer * outer_stride;
  for (uint c = 0; c < coordinates; ++c)
    at += index_at(item * coordinates + c, extents[c] - 1) * strides[c];
  return at;
}

void main() {
  uint first = stoker_index() * unit;
  if (first >= n) return;
  uint run = first / run_length;
  uint column = first - run * run_length;
  uint at = run_start(run) + column;
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
    ++at;
    if (++column == run_length && first + i + 1 < n) {
      column = 0;
      at = run_start(++run);
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
