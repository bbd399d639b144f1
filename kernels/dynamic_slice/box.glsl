// Moves a box of the tensor, as indexing/moving.glsl says.

#define INDICES(i) starts_load(i)
#include "indexing/index_at.glsl"
#include "indexing/steps.glsl"

uint start;  // where the box begins in the tensor: the same for all threads

uint count(uint axis) { return (lengths[axis] + step_of(axis) - 1) / step_of(axis); }

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

uint row_start(uint row) {
  uint at = start;
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

#include "indexing/moving.glsl"

void main() {
  uint first = stoker_index() * unit;
  start = box_start();
  if (first < n) move(first, count(rank - 1), step_of(rank - 1));
}
