// Resizes along one axis with a filter that is widened by `stretch`, one output element a thread.
// The image is seen as [.., size, inner].

#if T_IS_FLOAT || !ROUNDS
#define TO_RESULT(v) (v)
#else
#define TO_RESULT(v) T(clamp(v, 0.0, 255.0) + 0.5)
#endif

float weight(float distance) {
  float d = abs(distance);
  if (filter_kind == 1u) return max(1.0 - d, 0.0);
  const float a = -0.5;
  if (d <= 1.0) return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  return d < 2.0 ? ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a : 0.0;
}

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint outer = i / (inner * size_out);
  uint rest_of_i = i - outer * inner * size_out;
  uint at = rest_of_i / inner;
  uint base = outer * inner * size_in + (rest_of_i - at * inner);

  // The exact position (at + 1/2) size_in / size_out - 1/2, see direct.glsl.
  uint product = at * rest;
  uint carry = product / size_out;
  int twice = int(2u * size_out);
  int numerator = int(2u * (product - carry * size_out)) + int(size_in) - int(size_out);
  int shift = numerator >= 0 ? numerator / twice : -1;
  int index = int(at * whole + carry) + shift;
  float fraction = float(numerator - shift * twice) / float(twice);

  int reach = int(ceil(float(filter_kind) * stretch));
  float sum = 0.0;
  float total = 0.0;
  for (int k = 1 - reach; k <= reach; ++k) {
    float w = weight((float(k) - fraction) / stretch);
    uint from = uint(clamp(index + k, 0, int(size_in) - 1));
    sum += w * float(x_load(base + from * inner));
    total += w;
  }
  y_store(i, TO_RESULT(sum / total));
}
