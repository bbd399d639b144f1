// The gradients of one tile of 248 elements by 8 rows: each column is combined downwards into
// shared memory as [1 2 1] and as [-1 0 1], with one more pixel on both sides, and the gradients
// then come from neighbours there. Columns are elements (pixel · channels + channel), vectors four of
// them. With both sides a tile is 64 vectors wide, so a group of 256 loads its eight rows in one step,
// a thread two of them: it reads four rows for two instead of three for one.

const uint TILE = 248u;
const uint ROWS = 8u;
const uint HALO = 4u;  // one pixel of up to four channels
const uint VECTORS = (TILE + 2u * HALO) / 4u;

shared vec4 smooth_down[ROWS][VECTORS];
shared vec4 difference_down[ROWS][VECTORS];

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

// Four elements of row y from `column`; zeros if y < 0.
vec4 elements(int y, int column) {
  int row = int(width * channels);
  if (wide != 0u && column >= 0 && column + 4 <= row) return four(y, uint(column));
  vec4 v;
  for (int i = 0; i < 4; ++i) {
    // Columns further out than one pixel are computed with the rest, but not used.
    int at = clamp(column + i, -int(channels), row + int(channels) - 1);
    int pixel = at < 0 ? -1 : at / int(channels);
    int channel = at - pixel * int(channels);
    pixel = inside(pixel, int(width));
    v[i] = pixel < 0 ? 0.0 : one(y, uint(pixel) * channels + uint(channel));
  }
  return v;
}

void combine(uint line, uint vector, vec4 above, vec4 middle, vec4 below) {
  smooth_down[line][vector] = above + 2.0 * middle + below;
  // Alpha has no gradient, and is kept where that of a colour would lie.
  if (channels == 4u) smooth_down[line][vector].w = middle.w;
  difference_down[line][vector] = below - above;
}

float smoothed(uint line, uint at) { return smooth_down[line][at / 4u][at & 3u]; }
float difference(uint line, uint at) { return difference_down[line][at / 4u][at & 3u]; }

void store_scalars(int left, int top, uint rows) {
  uint row = width * channels;
  uint column = uint(left) + gl_LocalInvocationID.x;
  if (gl_LocalInvocationID.x >= TILE || column >= row) return;
  uint at = gl_LocalInvocationID.x + HALO;
  for (uint line = 0u; line < rows; ++line) {
    float x = smoothed(line, at + channels) - smoothed(line, at - channels);
    float y = difference(line, at - channels) + 2.0 * difference(line, at) +
              difference(line, at + channels);
    float value = scale * (axis == 0u ? sqrt(x * x + y * y) : (axis == 1u ? x : y));
    y_store((uint(top) + line) * row + column, TO_T(value));
  }
}

// Pixels of four channels are vectors, and so are their neighbours.
void store_pixels(int left, int top, uint rows) {
  uint row = width * 4u;
  const uint pixels = TILE / 4u;
  for (uint item = gl_LocalInvocationID.x; item < pixels * rows; item += gl_WorkGroupSize.x) {
    uint line = item / pixels;
    uint at = item % pixels + HALO / 4u;
    uint column = uint(left) + 4u * (item % pixels);
    if (column >= row) continue;
    vec4 x = smooth_down[line][at + 1u] - smooth_down[line][at - 1u];
    vec4 y = difference_down[line][at - 1u] + 2.0 * difference_down[line][at] +
             difference_down[line][at + 1u];
    vec4 value = scale * (axis == 0u ? sqrt(x * x + y * y) : (axis == 1u ? x : y));
    value.w = smooth_down[line][at].w;
    y_store4(((uint(top) + line) * row + column) / 4u, TO_T4(value));
  }
}

void main() {
  uint group = stoker_group();
  if (group >= tiles) return;
  int row = int(width * channels);
  int left = int((group % tiles_x) * TILE);
  int top = int((group / tiles_x) * ROWS);
  uint rows = min(ROWS, height - uint(top));
  uint pairs = (rows + 1u) / 2u;
  for (uint item = gl_LocalInvocationID.x; item < VECTORS * pairs; item += gl_WorkGroupSize.x) {
    uint line = 2u * (item / VECTORS);
    uint vector = item % VECTORS;
    int column = left - int(HALO) + 4 * int(vector);
    if (column - int(HALO) >= row) continue;  // nobody looks there
    int y = top + int(line);
    int last = int(height) - 1;
    vec4 above = elements(inside(y - 1, int(height)), column);
    vec4 first = elements(y, column);
    vec4 second = elements(inside(y + 1, int(height)), column);
    vec4 below = elements(inside(min(y + 2, last + 1), int(height)), column);
    combine(line, vector, above, first, second);
    if (y < last) combine(line + 1u, vector, first, second, below);
  }
  barrier();

  if (channels == 4u) {
    store_pixels(left, top, rows);
  } else {
    store_scalars(left, top, rows);
  }
}
