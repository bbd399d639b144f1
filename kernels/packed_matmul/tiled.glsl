// Many rows times packed weights: a tile of 64 × 64 sums for a group of 256 threads, each of which has 4 × 4 of it. 16
// terms pass through shared memory at a time, all of one block, and the next 16 are on their way meanwhile.

#include "packed_matmul/operands.glsl"

const uint SIDE = 64u, DEPTH = 16u;

// One vector more than needed: writes across it then fall into different banks.
shared vec4 left_[DEPTH][SIDE / 4u + 1u];
shared vec4 right_[DEPTH][SIDE / 4u + 1u];

vec4 held_left, held_right;  // four terms of a row, and of a column

void fetch(uint row, uint column, uint first) {
  uint line = gl_LocalInvocationID.x / 4u;
  uint t = first + gl_LocalInvocationID.x % 4u * 4u;
  held_left = left4(row + line, t);
  held_right = vec4(0.0);
  uint j = column + line;
  if (j >= n) return;
  uint bytes = BITS / 2u;  // of four numbers
  uint at = (j * blocks * block + t) / 4u * bytes;
  uint word = 0u;
  for (uint i = 0u; i < bytes; ++i) word |= uint(b_load(at + i)) << (8u * i);
  held_right = (numbers4(word) - zero_of(j, t / block)) * scale_of(j, t / block);
}

void put() {
  uint line = gl_LocalInvocationID.x / 4u;
  uint t = gl_LocalInvocationID.x % 4u * 4u;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    left_[t + i][line / 4u][line % 4u] = held_left[i];
    right_[t + i][line / 4u][line % 4u] = held_right[i];
  }
}

void main() {
  uint tile = stoker_group();
  uint row = tile / groups_n * SIDE;
  if (row >= m) return;
  uint column = tile % groups_n * SIDE;
  uint x_ = gl_LocalInvocationID.x % 16u;
  uint y_ = gl_LocalInvocationID.x / 16u;
  vec4 sum[4];
  for (uint i = 0u; i < 4u; ++i) sum[i] = vec4(0.0);
  uint depth = blocks * block;
  if (depth > 0u) fetch(row, column, 0u);
  for (uint t = 0u; t < depth; t += DEPTH) {
    barrier();
    put();
    barrier();
    if (t + DEPTH < depth) fetch(row, column, t + DEPTH);
    [[unroll]] for (uint d = 0u; d < DEPTH; ++d) {
      vec4 l = left_[d][y_], r = right_[d][x_];
      [[unroll]] for (uint i = 0u; i < 4u; ++i) sum[i] += l[i] * r;
    }
  }
  for (uint i = 0u; i < 4u; ++i)
    for (uint j = 0u; j < 4u; ++j) {
      uint to_row = row + y_ * 4u + i, to_column = column + x_ * 4u + j;
      if (to_row < m && to_column < n) c_store(to_row * n + to_column, T(sum[i][j]));
    }
}
