// One bin of one channel of a box a thread. Only samples in the image are visited.
#include "boxes/bin.glsl"

// The samples of a bin along one axis: sample i is at start + (i + 0.5) step.
struct Samples {
  REAL start;
  REAL step;
  REAL count;
  uint first;  // those from here to `last` may lie in the image
  uint last;
};

Samples samples_of(REAL low, REAL high, uint bins, uint bin, uint extent) {
  REAL offset = half_pixel != 0 ? REAL(0.5) : REAL(0.0);
  REAL from = low * REAL(scale) - offset;
  REAL size = high * REAL(scale) - offset - from;
  if (half_pixel == 0 && !isnan(size)) size = max(size, REAL(1.0));
  size /= REAL(bins);
  Samples made;
  made.start = from + REAL(bin) * size;
  bool is_number = !isnan(made.start) && !isinf(made.start) && !isnan(size) && !isinf(size);
  made.count = REAL(samples);
  if (samples == 0) made.count = is_number ? clamp(ceil(size), REAL(1.0), REAL(most)) : REAL(1.0);
  made.step = size / made.count;
  made.first = 0;
  made.last = is_number ? uint(made.count) : 0;
  if (is_number && made.step > REAL(0.0)) {
    // What divides by little may be infinite, and is clamped. One more on each side for what is rounded.
    REAL first = floor((REAL(-1.0) - made.start) / made.step - REAL(0.5)) - REAL(1.0);
    REAL last = ceil((REAL(extent) - made.start) / made.step - REAL(0.5)) + REAL(2.0);
    made.first = uint(clamp(first, REAL(0.0), made.count));
    made.last = uint(clamp(last, REAL(0.0), made.count));
  }
  return made;
}

// The two pixels at `at`, and what the second counts; false for a place outside of the image.
bool between(REAL at, uint extent, out uint first, out uint second, out REAL share) {
  first = second = 0;
  share = REAL(0.0);
  if (at < REAL(-1.0) || at > REAL(extent)) return false;
  at = max(at, REAL(0.0));
  first = min(uint(at), extent - 1);
  second = min(first + 1, extent - 1);
  if (second > first) share = at - REAL(first);
  return true;
}

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  Bin bin = bin_at(i);
  Samples down = samples_of(bin.y1, bin.y2, height, bin.row, rows);
  Samples across = samples_of(bin.x1, bin.x2, width, bin.column, columns);
  uint plane = bin.plane;
  REAL total = REAL(0.0);
  REAL greatest = REAL(uintBitsToFloat(0xff800000u));  // minus infinity
  uint visited = 0;
  for (uint a = down.first; a < down.last; ++a) {
    uint top, bottom;
    REAL below;
    if (!between(down.start + (REAL(a) + REAL(0.5)) * down.step, rows, top, bottom, below))
      continue;
    for (uint b = across.first; b < across.last; ++b) {
      uint left, right;
      REAL beside;
      if (!between(across.start + (REAL(b) + REAL(0.5)) * across.step, columns, left, right, beside))
        continue;
      REAL parts[4] = REAL[4](
          (REAL(1.0) - below) * (REAL(1.0) - beside) * REAL(x_load(plane + top * columns + left)),
          (REAL(1.0) - below) * beside * REAL(x_load(plane + top * columns + right)),
          below * (REAL(1.0) - beside) * REAL(x_load(plane + bottom * columns + left)),
          below * beside * REAL(x_load(plane + bottom * columns + right)));
      for (uint k = 0; k < 4; ++k) {
        total += parts[k];
        if (parts[k] > greatest) greatest = parts[k];
      }
      ++visited;
    }
  }
  REAL count = down.count * across.count;
  // Samples outside are 0.
  if (REAL(visited) < count) greatest = max(greatest, REAL(0.0));
  y_store(i, T(largest != 0 ? greatest : total / count));
}
