// C = A · B, one tile of ROWS × COLUMNS per group, or a convolution written as such a product:
// A the weights [m, k], B the input's patches [k, n], gathered on the way.
//
// A and B pass through shared memory in steps of DEPTH along k, as DEPTH lines of 4-vectors across
// the tile. While one step is multiplied, the next one is on its way from memory in registers.
// Past the edges A and B read as 0.
//
// SLICES: as many sets of threads work on the tile, each on another step, and add up what they have.
//
// Parts: a long k is shared by as many groups, each of which leaves a C of its own, [part, batch, m, n], for
// sums.glsl to add up.
//
// FUSED: what becomes of C's elements is said by functions that stand before this text
// (kernels/fused/product_shader.cpp).

#ifndef CONVOLUTION
#include "matmul/batches.glsl"
#endif

#if SLICES > 1
const uint THREADS = gl_WorkGroupSize.x / SLICES;
#define SLICE (gl_LocalInvocationID.x / THREADS)
#define THREAD (gl_LocalInvocationID.x % THREADS)
#else
const uint THREADS = gl_WorkGroupSize.x;
#define SLICE 0u
#define THREAD gl_LocalInvocationID.x
#endif
const uint LINES_A = ROWS / 4;
const uint LINES_B = COLUMNS / 4;
const uint LOADS_A = LINES_A * DEPTH / THREADS;
const uint LOADS_B = LINES_B * DEPTH / THREADS;
const uint THREADS_X = LINES_B / QUADS;
const uint THREADS_Y = LINES_A / QUADS;

// One vector more than needed: the writes of a transposed operand then fall into different banks. Many
// slices have no room for that.
const uint SPARE = SLICES > 1 ? 0 : 1;
shared T4 lines_a[SLICES][2][DEPTH][LINES_A + SPARE];
shared T4 lines_b[SLICES][2][DEPTH][LINES_B + SPARE];

uint base_a, base_b, base_c;
uint k_end;  // of the part

// Four neighbours from place `at` on: those of line `line` that begin at `first` of it, where there are so many
// lines and elements of each; past those, 0.
#define FOUR(name, x, VECTOR)                                              \
  T4 name(uint line, uint lines, uint first, uint end, uint at) {          \
    if (line >= lines) return T4(0);                                       \
    if (VECTOR != 0u) return first < end ? x##_load4(at / 4u) : T4(0);     \
    T4 v = T4(0);                                                          \
    [[unroll]] for (uint j = 0u; j < 4u; ++j)                              \
      if (first + j < end) v[j] = x##_load(at + j);                        \
    return v;                                                              \
  }
FOUR(a_four, a, VECTOR_A)

// Along k: of row `i` of A as stored untransposed. Across: along the tile's side, as stored transposed.
T4 a_along(uint i, uint t) { return a_four(i, m, t, k_end, base_a + i * k + t); }

#ifdef CONVOLUTION

// What does not change along k: where the patches of this thread's pixels begin.
ivec4 patch_y[LOADS_B], patch_x[LOADS_B];
uvec4 patch_at[LOADS_B];  // the first tap's element, which may lie outside: wraps, and so does the sum

void find_patches(uint load, uint first) {
  [[unroll]] for (uint j = 0u; j < 4u; ++j) {
    uint pixel = first + j;
    uint image = pixel / (out_h * out_w);
    uint rest = pixel - image * out_h * out_w;
    uint y = rest / out_w;
    int top = int(y * stride_h) - int(pad_top);
    int left = int((rest - y * out_w) * stride_w) - int(pad_left);
    // Pixels past the end get a patch that lies outside everywhere.
    patch_y[load][j] = pixel < n ? top : int(in_h);
    patch_x[load][j] = left;
    patch_at[load][j] = base_b + image * in_channels * in_h * in_w + uint(top * int(in_w) + left);
  }
}

T4 b_patches(uint load, uint t) {
  if (t >= k_end) return T4(0);
  if (POINTWISE != 0u)
    return patch_y[load][0] < int(in_h) ? b_load4((patch_at[load][0] + t * in_h * in_w) / 4u) : T4(0);
  uint channel = t / (KERNEL_H * KERNEL_W);
  uint tap = t - channel * (KERNEL_H * KERNEL_W);
  uint tap_row = tap / KERNEL_W;
  int down = int(tap_row * dilation_h);
  int right = int((tap - tap_row * KERNEL_W) * dilation_w);
  uint offset = channel * in_h * in_w + uint(down) * in_w + uint(right);
  T4 v = T4(0);
  [[unroll]] for (uint j = 0u; j < 4u; ++j) {
    // As unsigned numbers, negative coordinates are too large as well.
    bool inside = uint(patch_y[load][j] + down) < in_h && uint(patch_x[load][j] + right) < in_w;
    if (inside) v[j] = b_load(patch_at[load][j] + offset);
  }
  return v;
}

#else

FOUR(b_four, b, VECTOR_B)

T4 a_across(uint i, uint t) { return a_four(t, k_end, i, m, base_a + t * m + i); }
T4 b_along(uint i, uint t) { return b_four(i, n, t, k_end, base_b + i * k + t); }
T4 b_across(uint i, uint t) { return b_four(t, k_end, i, n, base_b + t * n + i); }

#endif

#if SLICES > 1
#define slice_sum(slice, at) \
  lines_a[slice][(at) / (DEPTH * LINES_A)][(at) / LINES_A % DEPTH][(at) % LINES_A]
#endif

T4 held_a[LOADS_A], held_b[LOADS_B];

// A load's place in a step: along k a thread takes 4 neighbours of one line, across it takes 4 lines
// of one k.
uint along_line(uint load) { return (THREAD + load * THREADS) / (DEPTH / 4u); }
uint along_k(uint load) { return (THREAD + load * THREADS) % (DEPTH / 4u) * 4u; }

void fetch(uint row, uint column, uint t) {
  [[unroll]] for (uint load = 0u; load < LOADS_A; ++load) {
#ifndef CONVOLUTION
    uint slot = THREAD + load * THREADS;
    if (TRANSPOSE_A != 0u)
      held_a[load] = a_across(row + slot % LINES_A * 4u, t + slot / LINES_A);
    else
#endif
      held_a[load] = a_along(row + along_line(load), t + along_k(load));
  }
  [[unroll]] for (uint load = 0u; load < LOADS_B; ++load) {
    uint slot = THREAD + load * THREADS;
#ifdef CONVOLUTION
    held_b[load] = b_patches(load, t + slot / LINES_B);
#else
    if (TRANSPOSE_B != 0u)
      held_b[load] = b_along(column + along_line(load), t + along_k(load));
    else
      held_b[load] = b_across(column + slot % LINES_B * 4u, t + slot / LINES_B);
#endif
  }
}

void put(uint half_) {
  [[unroll]] for (uint load = 0u; load < LOADS_A; ++load) {
    uint slot = THREAD + load * THREADS;
#ifndef CONVOLUTION
    if (TRANSPOSE_A != 0u)
      lines_a[SLICE][half_][slot / LINES_A][slot % LINES_A] = held_a[load];
    else
#endif
      [[unroll]] for (uint j = 0u; j < 4u; ++j)
        lines_a[SLICE][half_][along_k(load) + j][along_line(load) / 4u][along_line(load) % 4u] =
            held_a[load][j];
  }
  [[unroll]] for (uint load = 0u; load < LOADS_B; ++load) {
    uint slot = THREAD + load * THREADS;
#ifndef CONVOLUTION
    if (TRANSPOSE_B != 0u)
      [[unroll]] for (uint j = 0u; j < 4u; ++j)
        lines_b[SLICE][half_][along_k(load) + j][along_line(load) / 4u][along_line(load) % 4u] =
            held_b[load][j];
    else
#endif
      lines_b[SLICE][half_][slot / LINES_B][slot % LINES_B] = held_b[load];
  }
}

T4 sum[4 * QUADS][QUADS];

void multiply(uint half_, uint x, uint y) {
  [[unroll]] for (uint t = 0u; t < DEPTH; ++t) {
    T4 left[QUADS], right[QUADS];
    [[unroll]] for (uint q = 0u; q < QUADS; ++q) {
      left[q] = lines_a[SLICE][half_][t][y + q * THREADS_Y];
      right[q] = lines_b[SLICE][half_][t][x + q * THREADS_X];
    }
    [[unroll]] for (uint q = 0u; q < QUADS; ++q)
      [[unroll]] for (uint i = 0u; i < 4u; ++i)
        [[unroll]] for (uint j = 0u; j < QUADS; ++j) sum[q * 4u + i][j] += left[q][i] * right[j];
  }
}

// Writes four neighbours of a row of C.
void finish(uint row, uint column, T4 v) {
  if (row >= m || column >= n) return;
#ifdef CONVOLUTION
  if (HAS_BIAS != 0u) v += T4(bias_load(base_c + row));
  uint pixels = out_h * out_w;
  [[unroll]] for (uint j = 0u; j < 4u; ++j) {
    uint image = (column + j) / pixels;
    uint at = (image * out_channels + base_c + row) * pixels + (column + j - image * pixels);
    if (VECTOR_C != 0u) {
      if (j == 0u) c_store4(at / 4u, v);
    } else if (column + j < n) {
      c_store(at, v[j]);
    }
  }
#else
  uint at = base_c + row * n + column;
  if (VECTOR_C != 0u) {
    STORE4(at, v);
  } else {
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      if (column + j < n) STORE(at + j, v[j]);
  }
#endif
}

void main() {
  uint tile = stoker_group();
  uint item = tile / (tiles_m * tiles_n);
#ifdef CONVOLUTION
  uint batch = item, begin = 0u;
  if (batch >= batches) return;
  k_end = k;
#else
  uint part = item / batches;
  if (part >= parts) return;
  uint batch = item - part * batches, begin = part * part_k;
  k_end = min(k, begin + part_k);
#endif
  tile -= item * tiles_m * tiles_n;
  // Groups that run together take a block of tiles 8 high, which share rows and columns in the cache.
  uint band = tile / (8u * tiles_n) * 8u;
  uint band_rows = min(8u, tiles_m - band);
  tile -= band * tiles_n;
  uint row = (band + tile % band_rows) * ROWS;
  uint column = tile / band_rows * COLUMNS;

#ifdef CONVOLUTION
  base_a = batch * m * k;
  base_b = batch * (k / (KERNEL_H * KERNEL_W)) * in_h * in_w;
  base_c = batch * m;
  [[unroll]] for (uint load = 0u; load < LOADS_B; ++load)
    find_patches(load, column + (THREAD + load * THREADS) % LINES_B * 4u);
#else
  find_matrices(batch);
  base_a = matrix_a * m * k;
  base_b = matrix_b * k * n;
  base_c = item * m * n;
#endif

  // Neighbouring threads as 8 × 4 blocks of the tile: the fewest different lines for each read.
  const uint WIDE = min(THREADS_X, 8u);
  uint thread = THREAD;
  uint x = thread % WIDE + thread / 32u % (THREADS_X / WIDE) * WIDE;
  uint y = thread / WIDE % 4u + thread / 32u / (THREADS_X / WIDE) * 4u;
  [[unroll]] for (uint i = 0u; i < 4u * QUADS; ++i)
    [[unroll]] for (uint j = 0u; j < QUADS; ++j) sum[i][j] = T4(0);

  // All go the same number of rounds, past k with zeros.
  uint t = begin + SLICE * DEPTH;
  fetch(row, column, t);
  put(0u);
  barrier();
  uint half_ = 0u;
  for (; begin < k_end; begin += DEPTH * SLICES) {
    bool more = begin + DEPTH * SLICES < k_end;
    t += DEPTH * SLICES;
    if (more) fetch(row, column, t);
    multiply(half_, x, y);
    half_ ^= 1u;
    if (more) put(half_);
    barrier();
  }

#if SLICES > 1
  // A slice's lines of A have room for its sums.
  [[unroll]] for (uint i = 0u; i < 4u; ++i) slice_sum(SLICE, thread * 4u + i) = sum[i][0];
  barrier();
  uint block = gl_LocalInvocationID.x / 4u;
  if (block >= THREADS) return;
  T4 total = slice_sum(0u, gl_LocalInvocationID.x);
  [[unroll]] for (uint i = 1u; i < SLICES; ++i) total += slice_sum(i, gl_LocalInvocationID.x);
  finish(row + block / THREADS_X * 4u + gl_LocalInvocationID.x % 4u,
         column + block % THREADS_X * 4u, total);
#else
  [[unroll]] for (uint q = 0u; q < QUADS; ++q)
    [[unroll]] for (uint i = 0u; i < 4u; ++i)
      [[unroll]] for (uint j = 0u; j < QUADS; ++j)
        finish(row + (y + q * THREADS_Y) * 4u + i, column + (x + j * THREADS_X) * 4u,
               sum[q * 4u + i][j]);
#endif
}
