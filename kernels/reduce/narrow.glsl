// y[outer][piece][column] = x[outer][piece of the rows][column], reduced downwards, for rows of at
// most 32 elements. A group takes one piece and reads it straight through: as many threads as are a
// multiple of the row's length, so that each meets one column only.

#include "reduce/combining.glsl"

shared D part[256];

void main() {
  uint item = stoker_group();
  if (item >= items) return;
  uint lane = gl_LocalInvocationID.x;
  uint first = item % pieces * length;
  uint n = (min(first + length, reduced) - first) * inner;
  uint base = (item / pieces * reduced + first) * inner;
  uint active_lanes = 256 / inner * inner;

  D sum = reduce_identity();
  if (lane < active_lanes) {
    uint i = lane;
    for (; i + 3 * active_lanes < n; i += 4 * active_lanes) {
      D a = reduce_one(base + i), b = reduce_one(base + i + active_lanes);
      D c = reduce_one(base + i + 2 * active_lanes), d = reduce_one(base + i + 3 * active_lanes);
      sum = reduce_combine(sum, reduce_combine(reduce_combine(a, b), reduce_combine(c, d)));
    }
    for (; i < n; i += active_lanes) sum = reduce_combine(sum, reduce_one(base + i));
  }
  part[lane] = sum;
  barrier();
  if (lane >= inner) return;
  for (uint other = lane + inner; other < active_lanes; other += inner)
    sum = reduce_combine(sum, part[other]);
  y_store(item * inner + lane, reduce_divided(sum));
}
