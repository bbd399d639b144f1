// y[item] = x[outer][piece of the row], reduced by `lanes` threads, a power of two. An item is a
// (row, piece) pair; a group has 256 / lanes of them. `wide`: rows begin at multiples of four.

#include "reduce/combining.glsl"
#include "reduce/values.glsl"

shared D part[256];

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint member = lane % lanes;
  uint item = stoker_group() * (256 / lanes) + lane / lanes;
  D sum = reduce_identity();
  if (item < items) {
    uint first = item % pieces * length;
    uint n = min(first + length, reduced) - first;
    uint base = item / pieces * reduced + first;
    if (wide != 0) {
      uint quad = member, quads = n / 4, at = base / 4;
      for (; quad + 3 * lanes < quads; quad += 4 * lanes) {
        D4 a = reduce_four(at + quad), b = reduce_four(at + quad + lanes);
        D4 c = reduce_four(at + quad + 2 * lanes), d = reduce_four(at + quad + 3 * lanes);
        sum = reduce_combine(sum, reduce_combine(reduce_combine(reduce_across(a), reduce_across(b)),
                                   reduce_combine(reduce_across(c), reduce_across(d))));
      }
      for (; quad < quads; quad += lanes) sum = reduce_combine(sum, reduce_across(reduce_four(at + quad)));
    } else {
      sum = reduce_every(base, member, n, lanes);
    }
  }
  part[lane] = sum;
  for (uint half_team = lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) part[lane] = reduce_combine(part[lane], part[lane + half_team]);
  }
  if (member == 0 && item < items) y_store(item, reduce_divided(part[lane]));
}
