// A thread fetches `unit` elements that are adjacent in y: four, or one where four would be too much
// for one store. With `one_row` four lie in one row of the innermost axis, with `adjacent` they are
// adjacent in x too.

// Where element i of y lies in x, and its place in its row.
uvec2 locate(uint i) {
  uint row = i / extents[rank - 1];
  uint column = i - row * extents[rank - 1];
  uint at = column * strides[rank - 1];
  [[unroll]] for (uint axis = rank - 2; axis > 0; --axis) {
    uint rest = row / extents[axis];
    at += (row - rest * extents[axis]) * strides[axis];
    row = rest;
  }
  return uvec2(at + row * strides[0], column);
}

void main() {
  uint i = stoker_index() * unit;
  if (i >= n) return;
  uvec2 at = locate(i);
  if (unit == 1) {
    y_store(i, x_load(at.x));
    return;
  }
  uint stride = strides[rank - 1];
  if (adjacent != 0) {
    y_store4(i / 4, x_load4(at.x / 4));
  } else if (one_row != 0) {
    y_store4(i / 4, T4(x_load(at.x), x_load(at.x + stride), x_load(at.x + 2 * stride),
                       x_load(at.x + 3 * stride)));
  } else {
    T4 held;
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (i + j < n) held[j] = x_load(at.x);
      at += uvec2(stride, 1);
      if (at.y == extents[rank - 1]) at = locate(i + j + 1);
    }
    if (i + 4 <= n)
      y_store4(i / 4, held);
    else
      for (uint j = 0; i + j < n; ++j) y_store(i + j, held[j]);
  }
}
