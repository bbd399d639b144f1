// One bin of one channel of a box a thread.
#include "boxes/bin.glsl"

// What is further away is outside of any image.
const int FAR = 1 << 30;

// The nearest pixel, halves away from 0.
int pixel_at(REAL at) {
  at *= REAL(scale);
  if (isnan(at) || at < REAL(-FAR)) return -FAR;
  at = min(at, REAL(FAR));
  REAL whole = trunc(at);
  if (abs(at - whole) >= REAL(0.5)) whole += sign(at);
  return int(whole);
}

// `along` pixels behind `from`, in the image.
uint in_image(int from, uint along, uint extent) {
  uint before = uint(-min(from, 0));
  uint at = from < 0 ? (along > before ? along - before : 0) : uint(from) + along;
  return min(at, extent);
}

// The pixels of a bin along one axis: from x on and before y. Whole numbers, so that no edge is rounded.
uvec2 bin_of(REAL low, REAL high, uint bins, uint bin, uint extent) {
  int from = pixel_at(low);
  int to = pixel_at(high);
  uint size = to < from ? 1 : uint(to) - uint(from) + 1;
  uint each = size / bins;
  uint left = size % bins;
  uint first = bin * each + bin * left / bins;
  uint last = (bin + 1) * each + ((bin + 1) * left + bins - 1) / bins;
  return uvec2(in_image(from, first, extent), in_image(from, last, extent));
}

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  Bin bin = bin_at(i);
  uvec2 down = bin_of(bin.y1, bin.y2, height, bin.row, rows);
  uvec2 across = bin_of(bin.x1, bin.x2, width, bin.column, columns);
  bool is_empty = down.x >= down.y || across.x >= across.y;
  REAL greatest = is_empty ? REAL(0.0) : REAL(uintBitsToFloat(0xff800000u));  // minus infinity
  for (uint a = down.x; a < down.y; ++a)
    for (uint b = across.x; b < across.y; ++b) {
      REAL pixel = REAL(x_load(bin.plane + a * columns + b));
      if (pixel > greatest) greatest = pixel;
    }
  y_store(i, T(greatest));
}
