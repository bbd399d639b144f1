// One output pixel a thread, from the 1, 2 x 2 or 4 x 4 input pixels around it.

#if T_IS_FLOAT
#define TO_T(v) (v)
#else
#define TO_T(v) T(clamp(v, 0.0, 255.0) + 0.5)
#endif

struct Position {
  int index;       // the input pixel at or before it
  float fraction;  // from there to it
  int nearest;     // the pixel it lies in
};

// (i + 1/2) size_in / size_out - 1/2 with size_in = whole · size_out + rest, in integers: a float
// would be off by a thousandth of a pixel in a wide image.
Position position(uint i, uint size_in, uint size_out, uint whole, uint rest) {
  uint product = i * rest;
  uint carry = product / size_out;
  int twice = int(2u * size_out);
  int numerator = int(2u * (product - carry * size_out)) + int(size_in) - int(size_out);
  int shift = numerator >= 0 ? numerator / twice : -1;
  int index = int(i * whole + carry) + shift;
  int remainder = numerator - shift * twice;
  int nearest = clamp(2 * remainder >= twice ? index + 1 : index, 0, int(size_in) - 1);
  return Position(index, float(remainder) / float(twice), nearest);
}

vec4 cubic(float f) {
  const float a = -0.5;
  vec4 d = vec4(1.0 + f, f, 1.0 - f, 2.0 - f);
  vec4 near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  vec4 far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
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
