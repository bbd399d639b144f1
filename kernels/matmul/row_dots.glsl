// c[j] = sum over t of a[t] · b[j][t]: 32 threads for each of 8 columns. FUSED and parts: see
// tiled.glsl.

#ifdef FUSED
#define STORE(at, value) fused_store(at, value)
#else
#define STORE(at, value) c_store(at, value)
#endif

const uint WIDTH = 32u;
shared T sums[8][WIDTH];

void main() {
  uint item = stoker_group() / groups;
  uint part = item / batches;
  if (part >= parts) return;
  uint batch = item - part * batches;
  uint t_begin = part * part_k;
  uint t_end = min(k, t_begin + part_k);
  uint matrix_a = 0u, matrix_b = 0u, rest = batch;
  if (batches > 1u)
    for (int axis = 5; axis >= 0; --axis) {
      uint coordinate = rest % extents[axis];
      rest /= extents[axis];
      matrix_a += coordinate * a_steps[axis];
      matrix_b += coordinate * b_steps[axis];
    }

  uint lane = gl_LocalInvocationID.x % WIDTH;
  uint line = gl_LocalInvocationID.x / WIDTH;
  uint column = (stoker_group() - item * groups) * 8u + line;
  uint at_a = matrix_a * k;
  uint at_b = (matrix_b * n + column) * k;
  T sum = T(0);
  if (column < n) {
    if (VECTOR != 0u) {
      T4 four = T4(0);
      for (uint t = t_begin / 4u + lane; t < t_end / 4u; t += WIDTH)
        four += a_load4(at_a / 4u + t) * b_load4(at_b / 4u + t);
      sum = (four.x + four.y) + (four.z + four.w);
    } else {
      for (uint t = t_begin + lane; t < t_end; t += WIDTH) sum += a_load(at_a + t) * b_load(at_b + t);
    }
  }
  sums[line][lane] = sum;
  for (uint step_ = WIDTH / 2u; step_ > 0u; step_ /= 2u) {
    barrier();
    if (lane < step_) sums[line][lane] += sums[line][lane + step_];
  }
  if (lane == 0u && column < n) STORE(item * n + column, sums[line][0]);
}
