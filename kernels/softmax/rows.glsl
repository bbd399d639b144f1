// Rows along the innermost axis, by teams of threads.

#include "rows/larger.glsl"
#include "rows/team.glsl"

float larger4(float a, vec4 v) { return larger(larger(larger(v.x, v.y), larger(v.z, v.w)), a); }

vec4 fetch(uint base, uint at) { return within(at, LOAD(x, base, at), lowest); }

void main() {
  uint row = join();
  uint base = min(row, rows - 1) * length;
  uint batch = 4 * quads * lanes;
  uint last = (length - 1) / batch * batch;

  // Each thread's own largest element and sum; the sum is rescaled when the largest changes.
  vec4 v[quads];
  float m = lowest, sum = 0;
  for (uint first = 0; first <= last; first += batch) {
    [[unroll]] for (uint k = 0; k < quads; ++k) v[k] = fetch(base, place(first, k));
    float before = m;
    [[unroll]] for (uint k = 0; k < quads; ++k) m = larger4(m, v[k]);
    // -infinity adds nothing, wherever it stands; subtracted from itself it would be NaN.
    float center = m == lowest ? 0 : m;
    sum *= exp(before - center);
    [[unroll]] for (uint k = 0; k < quads; ++k) {
      v[k] = exp(v[k] - center);
      sum += sum4(v[k]);
    }
  }
  float whole = team(m, true);
  float own = exp(m - whole);
  float scale = 1 / team(sum * own, false);
  if (row >= rows) return;

  [[unroll]] for (uint k = 0; k < quads; ++k) put(base, place(last, k), v[k] * (own * scale));
  for (uint first = 0; first < last; first += batch) {
    [[unroll]] for (uint k = 0; k < quads; ++k) v[k] = fetch(base, place(first, k));
    [[unroll]] for (uint k = 0; k < quads; ++k)
      put(base, place(first, k), exp(v[k] - whole) * scale);
  }
}
