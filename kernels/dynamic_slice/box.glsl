// Moves a box of the tensor: from x's to the dense y, or with `puts` from the dense x to y's. A
// thread moves `unit` elements that are adjacent on the dense side; with `wide` they are on both.
uint step_of(uint axis) {
  uint steps[8] = uint[8](step0, step1, step2, step3, step4, step5, step6, step7);
  return steps[axis];
}

// Entry i of the starts, clamped to 0 … last. 64-bit ones come as two words, the low one first.
uint index_at(uint i, uint last) {
  if (index_words == 2) {
    uint high = starts_load(2 * i + 1);
    if (index_signed != 0 && int(high) < 0) return 0;
    return high != 0 ? last : min(uint(starts_load(2 * i)), last);
  }
  uint index = starts_load(i);
  return index_signed != 0 && index >> (INDEX_BITS - 1) != 0 ? 0 : min(index, last);
}

uint count(uint axis) { return (lengths[axis] + step_of(axis) - 1) / step_of(axis); }

// Where the box begins in the tensor: the same for all threads.
uint box_start() {
  uint at = 0;
  uint stride = 1;
  for (uint axis = rank; axis > 0; --axis) {
    uint a = axis - 1;
    uint last = (extents[a] - lengths[a]) / scales[a];
    at += index_at(start_of >> (4 * a) & 15u, last) * scales[a] * stride;
    stride *= extents[a];
  }
  return at;
}

// The first element of row `row` of the box, relative to its beginning.
uint locate(uint row) {
  uint at = 0;
  uint stride = extents[rank - 1];
  for (uint axis = rank - 1; axis > 0; --axis) {
    uint a = axis - 1;
    uint rest = row / count(a);
    at += (row - rest * count(a)) * step_of(a) * stride;
    stride *= extents[a];
    row = rest;
  }
  return at;
}

void main() {
  uint first = stoker_index() * unit;
  if (first >= n) return;
  uint row_length = count(rank - 1);
  uint step = step_of(rank - 1);
  uint row = first / row_length;
  uint column = first - row * row_length;
  uint start = box_start();
  uint at = start + locate(row) + column * step;
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
      at = start + locate(++row);
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
