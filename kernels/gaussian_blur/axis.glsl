// Blurs along one axis, one element a thread: for radii whose halo does not fit shared memory.
// The image is seen as [n / (extent * inner), extent, inner] and blurred along the middle.

shared float weights[1025];

#if T_IS_FLOAT || !ROUNDS
#define TO_RESULT(v) (v)
#else
#define TO_RESULT(v) T(clamp(v, 0.0, 255.0) + 0.5)
#endif

#include "image/border.glsl"

void main() {
  for (uint k = gl_LocalInvocationID.x; k <= radius; k += gl_WorkGroupSize.x)
    weights[k] = (k == 0u ? 1.0 : exp(-falloff * float(k * k))) * scale;
  barrier();

  uint i = stoker_index();
  if (i >= n) return;
  int position = int((i / inner) % extent);
  uint base = i - uint(position) * inner;
  float sum = weights[0] * float(x_load(i));
  for (int k = 1; k <= int(radius); ++k) {
    int before = inside(position - k, int(extent));
    int after = inside(position + k, int(extent));
    float pair = before < 0 ? 0.0 : float(x_load(base + uint(before) * inner));
    pair += after < 0 ? 0.0 : float(x_load(base + uint(after) * inner));
    sum += weights[k] * pair;
  }
#if SHARPEN
  float own = float(original_load(i));
  bool alpha = channels == 4u && (i & 3u) == 3u;
  sum = alpha ? own : own + strength * (own - sum);
#endif
  y_store(i, TO_RESULT(sum));
}
