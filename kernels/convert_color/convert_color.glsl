// Four pixels a thread, so that wide accesses fit: they are 3 or 4 groups of four elements. The
// formulas are those of formulas.hpp.

#include "image/values.glsl"

const float NEUTRAL = T_IS_FLOAT != 0 ? 0.5 : 128.0 / WHITE;

const uint RGB = 0u;
const uint BGR = 1u;
const uint HSV = 2u;
const uint HSL = 3u;
const uint YCBCR = 4u;

float hue(vec3 c, float largest, float d) {
  float from_red = c.g - c.b;
  float start = largest == c.r ? (from_red < 0.0 ? 6.0 : 0.0) : (largest == c.g ? 2.0 : 4.0);
  float away = largest == c.r ? from_red : (largest == c.g ? c.b - c.r : c.r - c.g);
  return (start + away / (d > 0.0 ? d : 1.0)) / 6.0;
}

vec3 wrapped(vec3 k, float turn) { return k - turn * floor(k / turn); }

vec3 to_rgb(vec3 c) {
  if (from == BGR) return c.bgr;
  if (from == HSV) {
    vec3 k = wrapped(vec3(5.0, 3.0, 1.0) + 6.0 * c.x, 6.0);
    return c.z - c.z * c.y * max(vec3(0.0), min(min(k, 4.0 - k), vec3(1.0)));
  }
  if (from == HSL) {
    vec3 k = wrapped(vec3(0.0, 8.0, 4.0) + 12.0 * c.x, 12.0);
    float reach = c.y * min(c.z, 1.0 - c.z);
    return c.z - reach * max(vec3(-1.0), min(min(k - 3.0, 9.0 - k), vec3(1.0)));
  }
  if (from == YCBCR) {
    float cb = c.y - NEUTRAL;
    float cr = c.z - NEUTRAL;
    return vec3(c.x + 1.402 * cr,
                c.x - (0.114 * 1.772 / 0.587) * cb - (0.299 * 1.402 / 0.587) * cr,
                c.x + 1.772 * cb);
  }
  return c;
}

vec3 from_rgb(vec3 c) {
  if (to == RGB) return c;
  if (to == BGR) return c.bgr;
  if (to == YCBCR) {
    float luma = dot(c, vec3(0.299, 0.587, 0.114));
    return vec3(luma, NEUTRAL + (c.b - luma) / 1.772, NEUTRAL + (c.r - luma) / 1.402);
  }
  float largest = max(max(c.r, c.g), c.b);
  float least = min(min(c.r, c.g), c.b);
  float d = largest - least;
  float h = hue(c, largest, d);
  if (to == HSV) return vec3(h, d / (largest != 0.0 ? largest : 1.0), largest);
  float sum = largest + least;
  float range = min(sum, 2.0 - sum);
  return vec3(h, d / (range != 0.0 ? range : 1.0), 0.5 * sum);
}

vec3 converted(vec3 c) {
  if (from == to) return c;
  return from_rgb(to_rgb(c / WHITE)) * WHITE;
}

void four_pixels(uint quad) {
  if (channels == 4u) {
    for (uint i = 4u * quad; i < 4u * quad + 4u; ++i) {
      vec4 pixel = vec4(x_load4(i));
      y_store4(i, TO_T4(vec4(converted(pixel.rgb), pixel.w)));
    }
  } else {
    vec4 a = vec4(x_load4(3u * quad));
    vec4 b = vec4(x_load4(3u * quad + 1u));
    vec4 c = vec4(x_load4(3u * quad + 2u));
    vec3 first = converted(a.xyz);
    vec3 second = converted(vec3(a.w, b.xy));
    vec3 third = converted(vec3(b.zw, c.x));
    vec3 fourth = converted(c.yzw);
    y_store4(3u * quad, TO_T4(vec4(first, second.x)));
    y_store4(3u * quad + 1u, TO_T4(vec4(second.yz, third.xy)));
    y_store4(3u * quad + 2u, TO_T4(vec4(third.z, fourth)));
  }
}

void one_pixel(uint pixel) {
  uint at = pixel * channels;
  vec3 own = vec3(float(x_load(at)), float(x_load(at + 1u)), float(x_load(at + 2u)));
  T4 result = TO_T4(vec4(converted(own), 0.0));
  for (uint c = 0u; c < 3u; ++c) y_store(at + c, result[c]);
  if (channels == 4u) y_store(at + 3u, x_load(at + 3u));
}

#include "image/pixels.glsl"
