// Blurs one tile of 256 elements by 8 rows: downwards from global memory into shared memory, with
// the columns that the second step needs on both sides, then across from shared memory. Columns are
// elements (pixel · channels + channel), so the first step need not know about channels.

const uint TILE = 256u;
const uint ROWS = 8u;
const uint MAX_HALO = 96u;  // radius * channels

shared float weights[MAX_HALO + 1u];
shared float tile[ROWS][TILE + 2u * MAX_HALO];

#include "image/border.glsl"
#include "image/values.glsl"

float down_one(int column, int y) {
  int pixel = column < 0 ? -((-column + int(channels) - 1) / int(channels)) : column / int(channels);
  int channel = column - pixel * int(channels);
  pixel = inside(pixel, int(width));
  if (pixel < 0) return 0.0;
  uint at = uint(pixel) * channels + uint(channel);
  uint row = width * channels;
  float sum = weights[0] * float(x_load(uint(y) * row + at));
  for (int k = 1; k <= int(radius); ++k) {
    int above = inside(y - k, int(height));
    int below = inside(y + k, int(height));
    float pair = above < 0 ? 0.0 : float(x_load(uint(above) * row + at));
    pair += below < 0 ? 0.0 : float(x_load(uint(below) * row + at));
    sum += weights[k] * pair;
  }
  return sum;
}

// Four columns at once; they lie inside the image and rows begin at multiples of four elements.
vec4 down_four(int column, int y) {
  uint row = width * channels / 4u;
  uint at = uint(column) / 4u;
  vec4 sum = weights[0] * vec4(x_load4(uint(y) * row + at));
  for (int k = 1; k <= int(radius); ++k) {
    int above = inside(y - k, int(height));
    int below = inside(y + k, int(height));
    vec4 pair = above < 0 ? vec4(0.0) : vec4(x_load4(uint(above) * row + at));
    pair += below < 0 ? vec4(0.0) : vec4(x_load4(uint(below) * row + at));
    sum += weights[k] * pair;
  }
  return sum;
}

void main() {
  uint group = stoker_group();
  if (group >= tiles) return;
  uint thread = gl_LocalInvocationID.x;
  for (uint k = thread; k <= radius; k += gl_WorkGroupSize.x)
    weights[k] = (k == 0u ? 1.0 : exp(-falloff * float(k * k))) * scale;
  barrier();

  int row = int(width * channels);
  int left = int((group % tiles_x) * TILE);
  int top = int((group / tiles_x) * ROWS);
  uint rows = min(ROWS, height - uint(top));
  int halo = int(radius * channels + 3u) & ~3;
  // The tile's columns in the image, rounded up to whole groups of four, and those beside them.
  int columns = ((min(int(TILE), row - left) + 3) & ~3) + 2 * halo;
  uint quads = uint(columns) / 4u;
  for (uint item = thread; item < quads * rows; item += gl_WorkGroupSize.x) {
    uint y = item / quads;
    uint quad = item % quads;
    int column = left - halo + 4 * int(quad);
    vec4 value;
    if (wide != 0u && column >= 0 && column + 4 <= row) {
      value = down_four(column, top + int(y));
    } else {
      for (int i = 0; i < 4; ++i) value[i] = down_one(column + i, top + int(y));
    }
    for (uint i = 0u; i < 4u; ++i) tile[y][4u * quad + i] = value[i];
  }
  barrier();

  uint column = uint(left) + thread;
  if (column >= uint(row)) return;
  uint at = thread + uint(halo);
  for (uint y = 0u; y < rows; ++y) {
    float sum = weights[0] * tile[y][at];
    for (uint k = 1u; k <= radius; ++k)
      sum += weights[k] * (tile[y][at - k * channels] + tile[y][at + k * channels]);
    uint i = (uint(top) + y) * uint(row) + column;
#if SHARPEN
    float own = float(x_load(i));
    bool alpha = channels == 4u && (column & 3u) == 3u;
    sum = alpha ? own : own + strength * (own - sum);
#endif
    y_store(i, TO_T(sum));
  }
}
