// A convolution over up to two spatial axes as a product: y[o, j] = sum over t of k[o, t] · patch[t, j]
// for outputs o and pixels j of all images. A group computes a tile of 64 × 64, each of its 256
// threads 4 × 4 of it; 16 of t pass through shared memory at a time, and the next 16 are on their way
// from memory meanwhile. A long t is cut into parts, whose sums lie one after the other.
//
// t counts channels within taps if the input's channels are neighbours in memory, else taps within
// channels. Past the edges everything reads as 0.

#include "conv/store.glsl"

const uint SIDE = 64u, DEPTH = 16u, LOADS = 4u;

// One vector more than needed: writes across it then fall into different banks.
shared vec4 left_[DEPTH][SIDE / 4u + 1u];
shared vec4 right_[DEPTH][SIDE / 4u + 1u];

// Which element of a step a thread loads: neighbours along t, or along the tile's side.
uint side_of(uint load, bool along_t) {
  uint slot = gl_LocalInvocationID.x + load * 256u;
  return along_t ? slot / DEPTH : slot % SIDE;
}
uint t_of(uint load, bool along_t) {
  uint slot = gl_LocalInvocationID.x + load * 256u;
  return along_t ? slot % DEPTH : slot / SIDE;
}

struct Term {
  uint channel, row, column;
};
Term term(uint t) {
  const uint TAPS = TAPS_H * TAPS_W;
  uint channel, tap;
  if (CHANNELS_FIRST != 0u) {
    channel = t / TAPS;
    tap = t - channel * TAPS;
  } else {
    tap = t / (terms / TAPS);
    channel = t - tap * (terms / TAPS);
  }
  uint row = tap / TAPS_W;
  return Term(channel, row, tap - row * TAPS_W);
}

int tops[LOADS], lefts[LOADS];
uint origins[LOADS];
float held_left[LOADS], held_right[LOADS];

const bool LEFT_ALONG_T = OUTPUTS_LAST == 0u;
const bool RIGHT_ALONG_T = CHANNELS_FIRST == 0u;

void find_pixels(uint first) {
  for (uint load = 0u; load < LOADS; ++load) {
    uint j = first + side_of(load, RIGHT_ALONG_T);
    uint image = j / (out_h * out_w);
    uint rest = j - image * out_h * out_w;
    uint row = rest / out_w;
    // Pixels past the end get a patch that lies outside everywhere.
    tops[load] = j < n ? int(row * STRIDE_H) - low_h : int(in_h);
    lefts[load] = int((rest - row * out_w) * STRIDE_W) - low_w;
    origins[load] = image * x_image;
  }
}

void fetch(uint first_row, uint first_t, uint end_t) {
  for (uint load = 0u; load < LOADS; ++load) {
    uint o = first_row + side_of(load, LEFT_ALONG_T);
    uint t = first_t + t_of(load, LEFT_ALONG_T);
    Term of = term(t);
    held_left[load] = 0.0;
    if (o < m && t < end_t)
      held_left[load] = k_load(k_first + o * k_output + of.channel * k_channel + of.row * k_h + of.column * k_w);
    t = first_t + t_of(load, RIGHT_ALONG_T);
    of = term(t);
    int row = tops[load] + int(of.row * STEP_H);
    int column = lefts[load] + int(of.column * STEP_W);
    held_right[load] = 0.0;
    // As unsigned numbers, negative coordinates are too large as well.
    if (t < end_t && uint(row) < in_h && uint(column) < in_w)
      held_right[load] = x_load(origins[load] + of.channel * x_channel + uint(row) * x_h + uint(column) * x_w);
  }
}

void put() {
  for (uint load = 0u; load < LOADS; ++load) {
    uint i = side_of(load, LEFT_ALONG_T);
    left_[t_of(load, LEFT_ALONG_T)][i / 4u][i % 4u] = held_left[load];
    i = side_of(load, RIGHT_ALONG_T);
    right_[t_of(load, RIGHT_ALONG_T)][i / 4u][i % 4u] = held_right[load];
  }
}

void main() {
  uint tile = stoker_group();
  uint part = tile / (tiles_m * tiles_n);
  if (part >= parts) return;
  tile -= part * tiles_m * tiles_n;
  uint row = tile % tiles_m * SIDE;
  uint column = tile / tiles_m * SIDE;
  uint begin = part * part_k;
  uint end = min(terms, begin + part_k);
  // Neighbouring threads write what lies side by side.
  uint thread = gl_LocalInvocationID.x;
  uint x_ = Y_OUTPUTS_LAST != 0u ? thread / 16u : thread % 16u;
  uint y_ = Y_OUTPUTS_LAST != 0u ? thread % 16u : thread / 16u;

  vec4 sum[4];
  for (uint i = 0u; i < 4u; ++i) sum[i] = vec4(0);
  find_pixels(column);
  fetch(row, begin, end);
  for (uint t = begin; t < end; t += DEPTH) {
    barrier();
    put();
    barrier();
    if (t + DEPTH < end) fetch(row, t + DEPTH, end);
    [[unroll]] for (uint d = 0u; d < DEPTH; ++d) {
      vec4 a = left_[d][y_], b = right_[d][x_];
      [[unroll]] for (uint i = 0u; i < 4u; ++i) sum[i] += a[i] * b;
    }
  }

  for (uint j = 0u; j < 4u; ++j) {
    uint pixel = column + x_ * 4u + j;
    if (pixel >= n) break;
    uint image = pixel / (out_h * out_w);
    uint rest = pixel - image * out_h * out_w;
    uint at = part * m * n + image * y_image + rest / out_w * y_h + rest % out_w * y_w;
#ifdef FUSED
    if (Y_OUTPUTS_LAST != 0u && m % 4u == 0u) {
      uint o = row + y_ * 4u;
      if (o < m) fused_store4(at + o, vec4(sum[0][j], sum[1][j], sum[2][j], sum[3][j]));
      continue;
    }
#endif
    for (uint i = 0u; i < 4u; ++i) {
      uint o = row + y_ * 4u + i;
      if (o < m) STORE(at + o * y_output, sum[i][j]);
    }
  }
}
