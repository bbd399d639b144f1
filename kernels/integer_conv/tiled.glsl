// A convolution of 8-bit integers over up to three spatial axes as a product, one tile for each group of threads:
// y[o, j] = sum over t of (k[o, t] - zero) · (patch[t, j] - zero) for the outputs o of one group of channels and the
// pixels j of all images. t counts taps within channels. Past the edges everything reads as 0, which is what a padded
// zero point is less itself.

#include "integer_matmul/tile.glsl"

uint group;  // of channels

// Where the window of the pixel of each load begins, and its image's first element.
ivec3 corners[LOADS];
uint origins[LOADS];

void find_pixels(uint first) {
  for (uint load = 0u; load < LOADS; ++load) {
    uint j = first + side_of(load, false);
    uint pixels = outs[0] * outs[1] * outs[2];
    uint image = j / pixels;
    uint rest = j - image * pixels;
    ivec3 at = ivec3(rest / (outs[1] * outs[2]), rest / outs[2] % outs[1], rest % outs[2]);
    corners[load] =
        at * ivec3(strides[0], strides[1], strides[2]) - ivec3(lows[0], lows[1], lows[2]);
    // Pixels past the end get a window that lies outside everywhere.
    if (j >= n) corners[load].x = int(ins[0]);
    origins[load] = image * x_image + group * channels * x_channel;
  }
}

void fetch(uint first_row, uint first_t) {
  int x_less = x_zeros != 0u ? int(x_zero_load(0u)) : 0;
  for (uint load = 0u; load < LOADS; ++load) {
    uint o = first_row + side_of(load, true);
    uint t = first_t + t_of(load, true);
    held_left[load] = 0;
    if (o < m && t < terms) {
      uint line = group * m + o;
      held_left[load] = int(k_load(line * terms + t));
      if (k_zeros != 0u) held_left[load] -= int(k_zero_load(line % k_zeros));
    }
    t = first_t + t_of(load, false);
    uint all_taps = taps[0] * taps[1] * taps[2];
    uint channel = t / all_taps;
    uint tap = t - channel * all_taps;
    ivec3 of_tap = ivec3(tap / (taps[1] * taps[2]), tap / taps[2] % taps[1], tap % taps[2]);
    ivec3 place = corners[load] + of_tap * ivec3(tap_steps[0], tap_steps[1], tap_steps[2]);
    // As unsigned numbers, negative coordinates are too large as well.
    uvec3 at = uvec3(place);
    held_right[load] = 0;
    if (t < terms && at.x < ins[0] && at.y < ins[1] && at.z < ins[2])
      held_right[load] = int(x_load(origins[load] + channel * x_channel + at.x * x_steps[0] +
                                    at.y * x_steps[1] + at.z * x_steps[2])) - x_less;
  }
}

void main() {
  uint tile = stoker_group();
  group = tile / (tiles_m * tiles_n);
  if (group >= groups) return;
  tile -= group * tiles_m * tiles_n;
  uint row = tile % tiles_m * SIDE;
  uint column = tile / tiles_m * SIDE;
  uint x_ = gl_LocalInvocationID.x % 16u;
  uint y_ = gl_LocalInvocationID.x / 16u;
  for (uint i = 0u; i < 4u; ++i) sum[i] = ivec4(0);
  find_pixels(column);
  fetch(row, 0u);
  for (uint t = 0u; t < terms; t += DEPTH) {
    barrier();
    put(true, false);
    barrier();
    if (t + DEPTH < terms) fetch(row, t + DEPTH);
    add_step(x_, y_);
  }
  uint pixels = outs[0] * outs[1] * outs[2];
  for (uint j = 0u; j < 4u; ++j) {
    uint pixel = column + x_ * 4u + j;
    if (pixel >= n) break;
    uint image = pixel / pixels;
    for (uint i = 0u; i < 4u; ++i) {
      uint o = row + y_ * 4u + i;
      if (o < m)
        y_store((image * groups * m + group * m + o) * pixels + pixel - image * pixels, sum[i][j]);
    }
  }
}
