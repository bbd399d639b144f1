// Four pixels a thread, so that wide accesses fit whatever the number of channels: they are 1, 3 or
// 4 groups of four elements.

#include "image/values.glsl"

float grey(vec3 colour) { return dot(colour, vec3(0.299, 0.587, 0.114)); }

void four_pixels(uint quad) {
  if (channels == 1u) {
    y_store4(quad, x_load4(quad));
  } else if (channels == 3u) {
    vec4 a = vec4(x_load4(3u * quad));
    vec4 b = vec4(x_load4(3u * quad + 1u));
    vec4 c = vec4(x_load4(3u * quad + 2u));
    vec4 g = vec4(grey(a.xyz), grey(vec3(a.w, b.xy)), grey(vec3(b.zw, c.x)), grey(c.yzw));
    if (channels_out == 1u) {
      y_store4(quad, TO_T4(g));
    } else {
      y_store4(3u * quad, TO_T4(g.xxxy));
      y_store4(3u * quad + 1u, TO_T4(g.yyzz));
      y_store4(3u * quad + 2u, TO_T4(g.zwww));
    }
  } else {
    vec4 g;
    for (uint i = 0u; i < 4u; ++i) {
      vec4 pixel = vec4(x_load4(4u * quad + i));
      g[i] = grey(pixel.xyz);
      if (channels_out == 4u) y_store4(4u * quad + i, TO_T4(vec4(g[i], g[i], g[i], pixel.w)));
    }
    if (channels_out == 1u) y_store4(quad, TO_T4(g));
  }
}

void one_pixel(uint pixel) {
  uint from = pixel * channels;
  float own = float(x_load(from));
  float g = channels == 1u ? own : grey(vec3(own, float(x_load(from + 1u)), float(x_load(from + 2u))));
  uint to = pixel * channels_out;
  for (uint c = 0u; c < min(channels_out, 3u); ++c) y_store(to + c, TO_T(g));
  if (channels_out == 4u) y_store(to + 3u, x_load(from + 3u));
}

#include "image/pixels.glsl"
