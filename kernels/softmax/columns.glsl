// Rows along an axis that is not innermost: a thread walks down one column, or `row_lanes` threads
// (a power of two) share it, so that neighbouring threads read neighbouring elements. One pass finds
// the largest element and the sum together, rescaling the sum when the largest changes. A round takes
// `unit` elements: drivers end loops of many rounds early.

#include "rows/larger.glsl"

shared float largest[256];
shared float total[256];

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint across = 256 / row_lanes;
  uint member = lane / across;
  uint column = stoker_group() * across + lane % across;
  bool live = column < columns;
  uint base = column / inner * length * inner + column % inner;

  float m = lowest, sum = 0;
  if (live)
    for (uint first = member; first < length; first += unit * row_lanes)
      [[unroll]] for (uint k = 0; k < unit; ++k) {
        uint i = first + k * row_lanes;
        float x = i < length ? x_load(base + i * inner) : lowest;
        float next = larger(m, x);
        // -infinity adds nothing, wherever it stands; subtracted from itself it would be NaN.
        sum = (m == next ? sum : sum * exp(m - next)) + (x == lowest ? 0 : exp(x - next));
        m = next;
      }
  largest[lane] = m;
  total[lane] = sum;
  for (uint half_team = row_lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) {
      uint other = lane + half_team * across;
      float next = larger(largest[lane], largest[other]);
      float own = largest[lane] == next ? 1 : exp(largest[lane] - next);
      float others = largest[other] == next ? 1 : exp(largest[other] - next);
      total[lane] = total[lane] * own + total[other] * others;
      largest[lane] = next;
    }
  }
  barrier();
  m = largest[lane % across];
  float scale = 1 / total[lane % across];
  if (live)
    for (uint first = member; first < length; first += unit * row_lanes)
      [[unroll]] for (uint k = 0; k < unit; ++k) {
        uint i = first + k * row_lanes;
        if (i < length) y_store(base + i * inner, exp(x_load(base + i * inner) - m) * scale);
      }
}
