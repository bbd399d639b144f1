// Few rows times packed weights: 32 threads for each of 8 columns, which read its bytes four at a time, each once for
// up to four rows.

#include "packed_matmul/operands.glsl"

const uint WIDTH = 32u, COLUMNS = 8u, ROWS = 4u;
const uint NUMBERS = 32u / BITS;  // in four bytes

shared vec4 sums[COLUMNS][WIDTH];

void main() {
  uint lane = gl_LocalInvocationID.x % WIDTH;
  uint line = gl_LocalInvocationID.x / WIDTH;
  uint item = stoker_group();
  uint row = item / groups_n * ROWS;
  if (row >= m) return;
  uint column = item % groups_n * COLUMNS + line;
  uint words = blocks * block / NUMBERS;  // of a column
  vec4 sum = vec4(0.0);
  if (column < n)
    for (uint at = lane; at < words; at += WIDTH) {
      uint t = at * NUMBERS;
      uvec4 bytes = uvec4(b_load4(column * words + at));
      uint word = bytes.x | bytes.y << 8u | bytes.z << 16u | bytes.w << 24u;
      float scale = scale_of(column, t / block);
      float zero = zero_of(column, t / block);
      for (uint quad = 0u; quad < NUMBERS; quad += 4u) {
        vec4 weights = (numbers4(word >> (quad * BITS)) - zero) * scale;
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) sum[r] += dot(weights, left4(row + r, t + quad));
      }
    }
  sums[line][lane] = sum;
  for (uint step_ = WIDTH / 2u; step_ > 0u; step_ /= 2u) {
    barrier();
    if (lane < step_) sums[line][lane] += sums[line][lane + step_];
  }
  if (lane != 0u || column >= n) return;
  for (uint r = 0u; r < ROWS; ++r)
    if (row + r < m) c_store((row + r) * n + column, T(sums[line][0][r]));
}
