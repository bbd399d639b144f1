// One output pixel a thread, from the 1, 2 x 2 or 4 x 4 input pixels around it.

#include "image/values.glsl"

#include "resize/sampling.glsl"

vec4 cubic(float f) {
  vec4 d = vec4(1.0 + f, f, 1.0 - f, 2.0 - f);
  vec4 near = KEYS_NEAR(d), far = KEYS_FAR(d);
  return vec4(far.x, near.yz, far.w);
}

void main() {
  uint pixel = stoker_index();
  if (pixel >= pixels) return;
  uint row = pixel / width_out;
  Position y_at = position(row, height_in, height_out, height_whole, height_rest);
  Position x_at = position(pixel - row * width_out, width_in, width_out, width_whole, width_rest);
  uint to = pixel * channels;
  if (filter_kind == 0u) {
    uint from = (uint(y_at.nearest) * width_in + uint(x_at.nearest)) * channels;
    for (uint c = 0u; c < channels; ++c) y_store(to + c, x_load(from + c));
    return;
  }

  vec4 down = vec4(0.0, 1.0 - y_at.fraction, y_at.fraction, 0.0);
  vec4 across = vec4(0.0, 1.0 - x_at.fraction, x_at.fraction, 0.0);
  int first = 1;
  int last = 2;
  if (filter_kind == 2u) {
    down = cubic(y_at.fraction);
    across = cubic(x_at.fraction);
    first = 0;
    last = 3;
  }
  vec4 sum = vec4(0.0);
  for (int j = first; j <= last; ++j) {
    uint line = uint(clamp(y_at.index - 1 + j, 0, int(height_in) - 1)) * width_in;
    vec4 row_sum = vec4(0.0);
    for (int i = first; i <= last; ++i) {
      uint from = line + uint(clamp(x_at.index - 1 + i, 0, int(width_in) - 1));
      vec4 value = vec4(0.0);
      if (channels == 4u) {
        value = vec4(x_load4(from));
      } else {
        for (uint c = 0u; c < channels; ++c) value[c] = float(x_load(from * channels + c));
      }
      row_sum += across[i] * value;
    }
    sum += down[j] * row_sum;
  }
  for (uint c = 0u; c < channels; ++c) y_store(to + c, TO_T(sum[c]));
}
