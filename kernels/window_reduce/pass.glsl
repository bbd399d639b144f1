// y[outer][r][column] = the combination of x[outer][…][column] over window r of one axis; places
// that hold no element are left out. `wide`: a thread takes four adjacent columns, and `inner` counts
// in fours.

#include "reduce/combining.glsl"
#include "scalar/limits.glsl"

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint column = i % inner;
  uint r = i / inner % results;
  uint base = i / inner / results * extent * inner + column;
  // Not reduce_identity(): a window of padding only keeps it, and D has to hold it.
  D4 sum = D4(operation == 1 ? LEAST : operation == 2 ? MOST : operation == 4 ? D(1) : D(0));
  int place = int(r) * stride - low;
  for (uint tap = 0; tap < window; ++tap, place += window_dilation) {
    int at = place;
    if (dilated != 0) {
      if (place < 0 || place % base_dilation != 0) continue;
      at = place / base_dilation;
    }
    if (at < 0 || at >= int(extent)) continue;
    if (wide != 0)
      sum = reduce_combine(sum, D4(x_load4(base + uint(at) * inner)));
    else
      sum.x = reduce_combine(sum.x, D(x_load(base + uint(at) * inner)));
  }
  if (wide != 0)
    y_store4(i, sum);
  else
    y_store(i, sum.x);
}
