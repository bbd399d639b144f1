// y = apply(a, b) with operands that are read with strides of 0 or more along `rank` axes. A thread
// computes `unit` adjacent elements: four, or one where four would be too much for one store. With
// `one_row` four lie in one row of the innermost axis.

// Where output element i finds its operands, and its place in its row.
uvec3 locate(uint i) {
  uint row = i / extents[rank - 1];
  uint column = i - row * extents[rank - 1];
  uvec3 at = uvec3(column * a_strides[rank - 1], column * b_strides[rank - 1], column);
  [[unroll]] for (uint axis = rank - 2; axis > 0; --axis) {
    uint rest = row / extents[axis];
    uint coordinate = row - rest * extents[axis];
    at.x += coordinate * a_strides[axis];
    at.y += coordinate * b_strides[axis];
    row = rest;
  }
  at.x += row * a_strides[0];
  at.y += row * b_strides[0];
  return at;
}

void main() {
  uint i = stoker_index() * unit;
  if (i >= n) return;
  uvec3 at = locate(i);
  if (unit == 1) {
    y_store(i, apply(a_load(at.x), b_load(at.y)));
    return;
  }
  T4 left, right;
  if (one_row != 0) {
    // The innermost stride is 1, or 0 where the operand is stretched along the row.
    left = a_strides[rank - 1] == 0 ? T4(a_load(at.x)) : a_load4(at.x / 4);
    right = b_strides[rank - 1] == 0 ? T4(b_load(at.y)) : b_load4(at.y / 4);
  } else {
    [[unroll]] for (uint j = 0; j < 4; ++j) {
      if (i + j < n) {
        left[j] = a_load(at.x);
        right[j] = b_load(at.y);
      }
      at += uvec3(a_strides[rank - 1], b_strides[rank - 1], 1);
      if (at.z == extents[rank - 1]) at = locate(i + j + 1);
    }
    if (i + 4 > n) {
      for (uint j = 0; i + j < n; ++j) y_store(i + j, apply(left[j], right[j]));
      return;
    }
  }
  y_store4(i / 4, R4(apply(left.x, right.x), apply(left.y, right.y), apply(left.z, right.z),
                     apply(left.w, right.w)));
}
