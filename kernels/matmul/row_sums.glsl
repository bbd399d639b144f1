// c[j] = sum over t of a[t] · b[t][j]: 64 columns, four to a thread, and 16 threads that share the
// rows of b. FUSED and parts: see tiled.glsl.

#ifdef FUSED
#define STORE(at, value) fused_store(at, value)
#define STORE4(at, value) fused_store4(at, value)
#else
#define STORE(at, value) c_store(at, value)
#define STORE4(at, value) c_store4((at) / 4u, value)
#endif

const uint COLUMN_THREADS = 16u;
const uint ROW_THREADS = 16u;
shared T4 sums[ROW_THREADS][COLUMN_THREADS];

T4 row_of_b(uint at, uint column) {
  if (VECTOR != 0u) return b_load4(at / 4u);
  T4 v = T4(0);
  [[unroll]] for (uint j = 0u; j < 4u; ++j)
    if (column + j < n) v[j] = b_load(at + j);
  return v;
}

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

  uint x = gl_LocalInvocationID.x % COLUMN_THREADS;
  uint y = gl_LocalInvocationID.x / COLUMN_THREADS;
  uint column = (stoker_group() - item * groups) * 64u + x * 4u;
  T4 sum = T4(0);
  if (column < n)
    for (uint t = t_begin + y; t < t_end; t += ROW_THREADS)
      sum += a_load(matrix_a * k + t) * row_of_b((matrix_b * k + t) * n + column, column);
  sums[y][x] = sum;
  for (uint step_ = ROW_THREADS / 2u; step_ > 0u; step_ /= 2u) {
    barrier();
    if (y < step_) sums[y][x] += sums[y + step_][x];
  }
  if (y != 0u || column >= n) return;
  uint at = item * n + column;
  if (VECTOR != 0u) {
    STORE4(at, sums[0][x]);
  } else {
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      if (column + j < n) STORE(at + j, sums[0][x][j]);
  }
}
