// A tile of 64 × 64 sums of products of integers for a group of 256 threads, each of which has 4 × 4 of it. 16 terms
// pass through shared memory at a time, and the next 16 are on their way from memory meanwhile. Who includes this
// fetches them: held_left[load] and held_right[load] are the elements at side_of(load) and t_of(load).

const uint SIDE = 64u, DEPTH = 16u, LOADS = 4u;

// One vector more than needed: writes across it then fall into different banks.
shared ivec4 left_[DEPTH][SIDE / 4u + 1u];
shared ivec4 right_[DEPTH][SIDE / 4u + 1u];

int held_left[LOADS], held_right[LOADS];
ivec4 sum[4];

// Which element of a step a thread loads: neighbours along t, or along the tile's side.
uint side_of(uint load, bool along_t) {
  uint slot = gl_LocalInvocationID.x + load * 256u;
  return along_t ? slot / DEPTH : slot % SIDE;
}
uint t_of(uint load, bool along_t) {
  uint slot = gl_LocalInvocationID.x + load * 256u;
  return along_t ? slot % DEPTH : slot / SIDE;
}

void put(bool left_along_t, bool right_along_t) {
  for (uint load = 0u; load < LOADS; ++load) {
    uint i = side_of(load, left_along_t);
    left_[t_of(load, left_along_t)][i / 4u][i % 4u] = held_left[load];
    i = side_of(load, right_along_t);
    right_[t_of(load, right_along_t)][i / 4u][i % 4u] = held_right[load];
  }
}

void add_step(uint x_, uint y_) {
  [[unroll]] for (uint d = 0u; d < DEPTH; ++d) {
    ivec4 l = left_[d][y_], r = right_[d][x_];
    [[unroll]] for (uint i = 0u; i < 4u; ++i) sum[i] += l[i] * r;
  }
}
