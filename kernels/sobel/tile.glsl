// The gradients of one tile of 248 elements by 4 rows: each column is combined downwards into
// shared memory as [1 2 1] and as [-1 0 1], with one more pixel on both sides, and the gradients
// then come from neighbours there. Columns are elements (pixel · channels + channel). With both
// sides a tile is 64 vectors wide, so a group of 256 loads its four rows in one step.

const uint TILE = 248u;
const uint ROWS = 4u;
const uint HALO = 4u;  // one pixel of up to four channels

shared float smooth_down[ROWS][TILE + 2u * HALO];
shared float difference_down[ROWS][TILE + 2u * HALO];

#include "image/values.glsl"

// The index in [0, count) that stands for i, at most one outside; -1: zero does.
int inside(int i, int count) {
  if (i >= 0 && i < count) return i;
  if (border == 0u) return clamp(i, 0, count - 1);
  if (border == 3u) return -1;
  if (border == 2u) return i < 0 ? count - 1 : 0;
  return count == 1 ? 0 : (i < 0 ? 1 : count - 2);
}

float one(int y, uint at) { return y < 0 ? 0.0 : float(x_load(uint(y) * width * channels + at)); }

vec4 four(int y, uint at) {
  return y < 0 ? vec4(0.0) : vec4(x_load4((uint(y) * width * channels + at) / 4u));
}

void main() {
  uint group = stoker_group();
  if (group >= tiles) return;
  int row = int(width * channels);
  int left = int((group % tiles_x) * TILE);
  int top = int((group / tiles_x) * ROWS);
  uint rows = min(ROWS, height - uint(top));
  uint quads = (TILE + 2u * HALO) / 4u;
  for (uint item = gl_LocalInvocationID.x; item < quads * rows; item += gl_WorkGroupSize.x) {
    uint line = item / quads;
    uint quad = item % quads;
    int column = left - int(HALO) + 4 * int(quad);
    if (column - int(HALO) >= row) continue;  // nobody looks there
    int y = top + int(line);
    int above = inside(y - 1, int(height));
    int below = inside(y + 1, int(height));
    vec4 a;
    vec4 b;
    vec4 middle;
    if (wide != 0u && column >= 0 && column + 4 <= row) {
      a = four(above, uint(column));
      middle = four(y, uint(column));
      b = four(below, uint(column));
    } else {
      for (int i = 0; i < 4; ++i) {
        // Columns further out than one pixel are computed with the rest, but not used.
        int at = clamp(column + i, -int(channels), row + int(channels) - 1);
        int pixel = at < 0 ? -1 : at / int(channels);
        int channel = at - pixel * int(channels);
        pixel = inside(pixel, int(width));
        bool outside = pixel < 0;
        uint element = outside ? 0u : uint(pixel) * channels + uint(channel);
        a[i] = outside ? 0.0 : one(above, element);
        middle[i] = outside ? 0.0 : one(y, element);
        b[i] = outside ? 0.0 : one(below, element);
      }
    }
    for (uint i = 0u; i < 4u; ++i) {
      smooth_down[line][4u * quad + i] = a[i] + 2.0 * middle[i] + b[i];
      difference_down[line][4u * quad + i] = b[i] - a[i];
    }
  }
  barrier();

  uint column = uint(left) + gl_LocalInvocationID.x;
  if (gl_LocalInvocationID.x >= TILE || column >= uint(row)) return;
  uint at = gl_LocalInvocationID.x + HALO;
  bool alpha = channels == 4u && (column & 3u) == 3u;
  for (uint line = 0u; line < rows; ++line) {
    float x = smooth_down[line][at + channels] - smooth_down[line][at - channels];
    float y = difference_down[line][at - channels] + 2.0 * difference_down[line][at] +
              difference_down[line][at + channels];
    float value = scale * (axis == 0u ? sqrt(x * x + y * y) : (axis == 1u ? x : y));
    uint i = (uint(top) + line) * uint(row) + column;
    if (alpha) value = float(x_load(i));
    y_store(i, TO_T(value));
  }
}
