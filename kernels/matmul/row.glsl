// A row times a matrix. FUSED and parts: see tiled.glsl.
//
// DOTS: c[j] = sum over t of a[t] · b[j][t]: 32 threads for each of 8 columns.
// Else: c[j] = sum over t of a[t] · b[t][j]: 64 columns, four to a thread, and 16 threads that share the
// rows of b.

#include "matmul/batches.glsl"

uint item, t_begin, t_end;

// What this group has to do; false: nothing.
bool find_item() {
  item = stoker_group() / groups;
  uint part = item / batches;
  if (part >= parts) return false;
  t_begin = part * part_k;
  t_end = min(k, t_begin + part_k);
  find_matrices(item - part * batches);
  return true;
}

#ifdef DOTS
const uint WIDTH = 32u;
shared T sums[8][WIDTH];

void main() {
  if (!find_item()) return;
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
#else
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
  if (!find_item()) return;
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
#endif
