// Four elements at a time: with alpha they are one pixel, else every channel is a colour.

#include "image/values.glsl"

const uint QUADS = 4u;  // for each thread

void main() {
  uint first = stoker_group() * gl_WorkGroupSize.x * QUADS + gl_LocalInvocationID.x;
  vec4 factors = vec4(factor, factor, factor, alpha != 0u ? 1.0 : factor);
  vec4 offsets = vec4(offset, offset, offset, alpha != 0u ? 0.0 : offset);
  for (uint k = 0u; k < QUADS; ++k) {
    uint quad = first + k * gl_WorkGroupSize.x;
    if (4u * quad + 4u <= n) {
      y_store4(quad, TO_T4(vec4(x_load4(quad)) * factors + offsets));
    } else {
      for (uint i = 4u * quad; i < n; ++i)
        y_store(i, TO_T4(vec4(float(x_load(i)) * factor + offset)).x);
    }
  }
}
