// Four elements of the base a thread. With the alphas a and b of the two pictures, over has
// alpha r = a + b (1 - a) and colours base + (over - base) a / r.

#include "image/values.glsl"

// The first element of the pixel of `over` that lies on pixel p of the base, or -1.
int covering(uint p) {
  int row = int(p / width) - top;
  int column = int(p % width) - left;
  bool inside = row >= 0 && column >= 0 && row < int(over_height) && column < int(over_width);
  return inside ? (row * int(over_width) + column) * int(over_channels) : -1;
}

float alpha_at(int from) {
  return over_channels == 4u ? opacity * float(over_load(uint(from) + 3u)) / WHITE : opacity;
}

void blend_pixel(uint p) {
  T4 own = base_load4(p);
  int from = covering(p);
  if (from < 0) {
    y_store4(p, own);
    return;
  }
  vec4 pixel = vec4(own);
  float a = alpha_at(from);
  float b = pixel.w / WHITE;
  float r = a + b * (1.0 - a);
  float share = r > 0.0 ? a / r : 0.0;
  vec3 colour = vec3(float(over_load(uint(from))), float(over_load(uint(from) + 1u)),
                     float(over_load(uint(from) + 2u)));
  y_store4(p, TO_T4(vec4(pixel.rgb + (colour - pixel.rgb) * share, r * WHITE)));
}

T blend_element(uint i, T own) {
  uint p = i / channels;
  int from = covering(p);
  if (from < 0) return own;
  float value = float(own);
  return TO_T(value + (float(over_load(uint(from) + (i - p * channels))) - value) * alpha_at(from));
}

void main() {
  uint quad = stoker_index();
  uint first = 4u * quad;
  if (first >= n) return;
  if (channels == 4u) {
    blend_pixel(quad);
  } else if (first + 4u <= n) {
    T4 values = base_load4(quad);
    for (uint k = 0u; k < 4u; ++k) values[k] = blend_element(first + k, values[k]);
    y_store4(quad, values);
  } else {
    for (uint i = first; i < n; ++i) y_store(i, blend_element(i, base_load(i)));
  }
}
