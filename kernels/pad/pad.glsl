// y is x where an output element stands for one of x's, else the value. A thread computes `unit`
// adjacent elements. With `wide` four of them are four of x, or all padding.

#include "indexing/steps.glsl"

// Entry `coordinate` of an output axis as an entry of x's, or `extent` where there is none.
uint entry(uint coordinate, uint axis) {
  int distance = int(coordinate) - lows[axis];
  if (distance < 0) return from[axis];
  uint index = uint(distance) / step_of(axis);
  return index * step_of(axis) == uint(distance) ? min(index, from[axis]) : from[axis];
}

// Where x's row for row `row` of y begins; false if the row is padding.
bool locate(uint row, out uint at) {
  at = 0;
  uint stride = from[rank - 1];
  bool inside = true;
  for (uint axis = rank - 1; axis > 0; --axis) {
    uint rest = row / extents[axis - 1];
    uint index = entry(row - rest * extents[axis - 1], axis - 1);
    inside = inside && index < from[axis - 1];
    at += index * stride;
    stride *= from[axis - 1];
    row = rest;
  }
  return inside;
}

void main() {
  uint first = stoker_index() * unit;
  if (first >= n) return;
  uint row = first / extents[rank - 1];
  uint column = first - row * extents[rank - 1];
  uint at;
  bool inside = locate(row, at);
  T padding = value_load(0);
#if !T_IS_u64
  if (wide != 0) {
    uint index = entry(column, rank - 1);
    y_store4(first / 4, inside && index < from[rank - 1] ? x_load4((at + index) / 4) : T4(padding));
    return;
  }
  if (unit == 4) {
    T4 held = T4(padding);
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      uint index = entry(column, rank - 1);
      if (inside && index < from[rank - 1]) held[i] = x_load(at + index);
      if (++column == extents[rank - 1] && first + i + 1 < n) {
        column = 0;
        inside = locate(++row, at);
      }
    }
    if (first + 4 <= n)
      y_store4(first / 4, held);
    else
      for (uint i = 0; first + i < n; ++i) y_store(first + i, held[i]);
    return;
  }
#endif
  uint index = entry(column, rank - 1);
  y_store(first, inside && index < from[rank - 1] ? x_load(at + index) : padding);
}
