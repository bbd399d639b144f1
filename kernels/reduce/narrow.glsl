// y[outer][piece][column] = x[outer][piece of the rows][column], reduced downwards, for rows of at
// most 32 elements. A group takes one piece and reads it straight through: as many threads as are a
// multiple of the row's length, so that each meets one column only.

#include "reduce/combining.glsl"
#include "reduce/values.glsl"

shared D part[256];

void main() {
  uint item = stoker_group();
  if (item >= items) return;
  uint lane = gl_LocalInvocationID.x;
  uint first = item % pieces * length;
  uint n = (min(first + length, reduced) - first) * inner;
  uint base = (item / pieces * reduced + first) * inner;
  uint active_lanes = 256 / inner * inner;

  D sum = lane < active_lanes ? reduce_every(base, lane, n, active_lanes) : reduce_identity();
  part[lane] = sum;
  barrier();
  if (lane >= inner) return;
  for (uint other = lane + inner; other < active_lanes; other += inner)
    sum = reduce_combine(sum, part[other]);
  y_store(item * inner + lane, reduce_divided(sum));
}
