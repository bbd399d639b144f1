// C = (A - zeros) · (B - zeros) of 8-bit integers, one tile for each group. Past the edges A and B read as 0.

#include "matmul/batches.glsl"
#include "integer_matmul/tile.glsl"

const bool A_ALONG_T = TRANSPOSE_A == 0u;
const bool B_ALONG_T = TRANSPOSE_B != 0u;

void fetch(uint row, uint column, uint first) {
  for (uint load = 0u; load < LOADS; ++load) {
    uint i = row + side_of(load, A_ALONG_T);
    uint t = first + t_of(load, A_ALONG_T);
    held_left[load] = 0;
    if (i < m && t < k) {
      held_left[load] = int(a_load(matrix_a * m * k + (A_ALONG_T ? i * k + t : t * m + i)));
      if (a_zeros != 0u) held_left[load] -= int(a_zero_load(i % a_zeros));
    }
    i = column + side_of(load, B_ALONG_T);
    t = first + t_of(load, B_ALONG_T);
    held_right[load] = 0;
    if (i < n && t < k) {
      held_right[load] = int(b_load(matrix_b * k * n + (B_ALONG_T ? i * k + t : t * n + i)));
      if (b_zeros != 0u) held_right[load] -= int(b_zero_load(i % b_zeros));
    }
  }
}

void main() {
  uint tile = stoker_group();
  uint batch = tile / (tiles_m * tiles_n);
  if (batch >= batches) return;
  tile -= batch * tiles_m * tiles_n;
  uint row = tile % tiles_m * SIDE;
  uint column = tile / tiles_m * SIDE;
  find_matrices(batch);
  uint x_ = gl_LocalInvocationID.x % 16u;
  uint y_ = gl_LocalInvocationID.x / 16u;
  for (uint i = 0u; i < 4u; ++i) sum[i] = ivec4(0);
  fetch(row, column, 0u);
  for (uint t = 0u; t < k; t += DEPTH) {
    barrier();
    put(A_ALONG_T, B_ALONG_T);
    barrier();
    if (t + DEPTH < k) fetch(row, column, t + DEPTH);
    add_step(x_, y_);
  }
  for (uint i = 0u; i < 4u; ++i)
    for (uint j = 0u; j < 4u; ++j) {
      uint to_row = row + y_ * 4u + i, to_column = column + x_ * 4u + j;
      if (to_row < m && to_column < n) c_store((batch * m + to_row) * n + to_column, sum[i][j]);
    }
}
