// One output of a convolution for each thread, whatever its axes. Neighbouring threads compute
// neighbours in memory. Steps may be negative: as unsigned numbers they wrap, and so do the sums.

#include "conv/store.glsl"

void main() {
  uint at = stoker_index();
  if (at >= n) return;
  uint taps[6] = uint[6](taps0, taps1, taps2, taps3, taps4, taps5);
  uint strides[6] = uint[6](stride0, stride1, stride2, stride3, stride4, stride5);
  uint tap_steps[6] = uint[6](tap_step0, tap_step1, tap_step2, tap_step3, tap_step4, tap_step5);
  uint spreads[6] = uint[6](spread0, spread1, spread2, spread3, spread4, spread5);

  uint rest = at, channel = 0u, to = 0u;
  uint all = groups * outputs;
  if (CHANNELS_LAST != 0u) {
    channel = rest % all;
    rest /= all;
  }
  int places[6];
  for (int axis = int(RANK) - 1; axis >= 0; --axis) {
    uint i = rest % outs[axis];
    rest /= outs[axis];
    places[axis] = int(i * strides[axis]) - lows[axis];
    to += i * y_steps[axis];
  }
  if (CHANNELS_LAST == 0u) {
    channel = rest % all;
    rest /= all;
  }
  uint group = channel / outputs;
  uint o = channel - group * outputs;
  to += rest * y_image + group * y_group + o * y_output;
  uint from = rest * x_image + group * x_group;
  uint kernel = k_first + group * k_group + o * k_output;

  T sum = T(0);
  if (HAS_BIAS != 0u) sum = bias_load(channel);
  for (uint tap = 0u; tap < all_taps; ++tap) {
    uint left = tap, x_at = from, k_at = kernel;
    bool met = true;
    for (int axis = int(RANK) - 1; axis >= 0; --axis) {
      uint t = left % taps[axis];
      left /= taps[axis];
      k_at += t * k_steps[axis];
      int place = places[axis] + int(t * tap_steps[axis]);
      uint i = uint(max(place, 0)) / spreads[axis];
      met = met && place >= 0 && i < ins[axis] && i * spreads[axis] == uint(place);
      x_at += i * x_steps[axis];
    }
    if (!met) continue;
    for (uint c = 0u; c < channels; ++c, x_at += x_channel, k_at += k_channel)
      sum += x_load(x_at) * k_load(k_at);
  }
  STORE(to, sum);
}
