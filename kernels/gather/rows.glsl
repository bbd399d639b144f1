// Moves the rows of a tensor that index vectors choose, as indexing/moving.glsl says.

#include "indexing/index_at.glsl"
#include "indexing/places.glsl"

uint row_start(uint row) {
  uint at = place_in_rest(row);
  uint outer = row / count;
  return at + outer * outer_stride + chosen_place(row - outer * count);
}

#include "indexing/moving.glsl"

void main() {
  uint first = stoker_index() * unit;
  if (first < n) move(first, run_length, 1);
}
