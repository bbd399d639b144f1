// One output pixel a thread, from the input pixel or the 2 x 2 pixels at its position. Positions are
// 64-bit numbers in steps of 2^-31 pixels, as two words, the low one first.

#include "image/values.glsl"

uvec2 sum(uvec2 a, uvec2 b) {
  uint carry;
  uint low = uaddCarry(a.x, b.x, carry);
  return uvec2(low, a.y + b.y + carry);
}

uvec2 product(int a, uint b) {
  int high;
  int low;
  imulExtended(a, int(b), high, low);
  return uvec2(low, high);
}

// start + 2 (a column + b row)
uvec2 position(uvec2 start, int a, uint column, int b, uint row) {
  uvec2 half_way = sum(product(a, column), product(b, row));
  return sum(start, uvec2(half_way.x << 1, half_way.y << 1 | half_way.x >> 31));
}

// The pixel at or before a position, as far as a word holds it.
int pixel_at(uvec2 position) { return int(position.y << 1 | position.x >> 31); }

float fraction(uvec2 position) { return float(position.x & 0x7fffffffu) / 2147483648.0; }

vec4 input_at(int row, int column) {
  vec4 value = vec4(background, background, background, 0.0);
  if (row < 0 || column < 0 || row >= int(height_in) || column >= int(width_in)) return value;
  uint from = uint(row) * width_in + uint(column);
  if (channels == 4u) return vec4(x_load4(from));
  for (uint c = 0u; c < channels; ++c) value[c] = float(x_load(from * channels + c));
  return value;
}

// Between equal values that value, to the bit, which mix() does not promise.
vec4 between(vec4 a, vec4 b, float share) { return a + (b - a) * share; }

void main() {
  uint pixel = stoker_index();
  if (pixel >= pixels) return;
  uint row = pixel / width_out;
  uint column = pixel - row * width_out;
  uvec2 x_at = position(uvec2(x_start[0], x_start[1]), cosine, column, -sine, row);
  uvec2 y_at = position(uvec2(y_start[0], y_start[1]), sine, column, cosine, row);
  vec4 value;
  if (takes_nearest != 0u) {
    uvec2 half_pixel = uvec2(0x40000000u, 0u);
    value = input_at(pixel_at(sum(y_at, half_pixel)), pixel_at(sum(x_at, half_pixel)));
  } else {
    int top = pixel_at(y_at);
    int left = pixel_at(x_at);
    float across = fraction(x_at);
    vec4 above = between(input_at(top, left), input_at(top, left + 1), across);
    vec4 below = between(input_at(top + 1, left), input_at(top + 1, left + 1), across);
    value = between(above, below, fraction(y_at));
  }
  for (uint c = 0u; c < channels; ++c) y_store(pixel * channels + c, TO_T(value[c]));
}
