// Resizes along one axis with a filter that is widened by `stretch`, one output element a thread.
// The image is seen as [.., size, inner].

#if T_IS_FLOAT || !ROUNDS
#define TO_RESULT(v) (v)
#else
#define TO_RESULT(v) T(clamp(v, 0.0, 255.0) + 0.5)
#endif

#include "resize/sampling.glsl"

float weight(float distance) {
  float d = abs(distance);
  if (filter_kind == 1u) return max(1.0 - d, 0.0);
  if (d <= 1.0) return KEYS_NEAR(d);
  return d < 2.0 ? KEYS_FAR(d) : 0.0;
}

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint outer = i / (inner * size_out);
  uint rest_of_i = i - outer * inner * size_out;
  uint at = rest_of_i / inner;
  uint base = outer * inner * size_in + (rest_of_i - at * inner);

  Position from = position(at, size_in, size_out, whole, rest);
  int reach = int(ceil(float(filter_kind) * stretch));
  float sum = 0.0;
  float total = 0.0;
  for (int k = 1 - reach; k <= reach; ++k) {
    float w = weight((float(k) - from.fraction) / stretch);
    uint pixel = uint(clamp(from.index + k, 0, int(size_in) - 1));
    sum += w * float(x_load(base + pixel * inner));
    total += w;
  }
  y_store(i, TO_RESULT(sum / total));
}
