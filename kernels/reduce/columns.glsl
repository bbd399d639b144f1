// y[outer][piece][column] = x[outer][piece of the rows][column], reduced downwards. An item is one
// column of one piece, four adjacent ones with `wide`; 256 / row_lanes items lie side by side in a
// group, and `row_lanes` threads, a power of two, share each.

#include "reduce/combining.glsl"
#include "reduce/values.glsl"

shared D4 part[256];

D4 reduce_fetch(uint at) { return wide != 0 ? reduce_four(at) : D4(reduce_one(at)); }

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint across = 256 / row_lanes;
  uint member = lane / across;
  uint item = stoker_group() * across + lane % across;
  uint unit = wide != 0 ? 4 : 1;
  uint columns = inner / unit;  // and below everything counts in units
  uint column = item % columns;
  uint piece = item / columns % pieces;
  uint outer = item / columns / pieces;

  D4 sum = D4(reduce_identity());
  if (item < items) {
    uint first = piece * length;
    uint end = min(first + length, reduced);
    uint base = outer * reduced * columns + column;
    uint row = first + member;
    for (; row + 3 * row_lanes < end; row += 4 * row_lanes) {
      D4 a = reduce_fetch(base + row * columns), b = reduce_fetch(base + (row + row_lanes) * columns);
      D4 c = reduce_fetch(base + (row + 2 * row_lanes) * columns);
      D4 d = reduce_fetch(base + (row + 3 * row_lanes) * columns);
      sum = reduce_combine(sum, reduce_combine(reduce_combine(a, b), reduce_combine(c, d)));
    }
    for (; row < end; row += row_lanes) sum = reduce_combine(sum, reduce_fetch(base + row * columns));
  }
  part[lane] = sum;
  for (uint half_team = row_lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) part[lane] = reduce_combine(part[lane], part[lane + half_team * across]);
  }
  if (member != 0 || item >= items) return;
  sum = part[lane];
  sum = D4(reduce_divided(sum.x), reduce_divided(sum.y), reduce_divided(sum.z), reduce_divided(sum.w));
  if (wide != 0)
    y_store4(item, sum);
  else
    y_store(item, sum.x);
}
