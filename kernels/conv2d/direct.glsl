// One output of a convolution for each thread: for groups too small to fill a tile, as in depthwise
// convolutions. Neighbouring threads read neighbouring pixels and the same weights.

void main() {
  uint at = stoker_index();
  if (at >= outputs) return;
  uint pixels = out_h * out_w;
  uint plane = at / pixels;
  uint pixel = at - plane * pixels;
  uint image = plane / out_channels;
  uint o = plane - image * out_channels;
  uint y = pixel / out_w;
  int top = int(y * stride_h) - int(pad_top);
  int left = int((pixel - y * out_w) * stride_w) - int(pad_left);

  uint weight = o * group_channels * KERNEL_H * KERNEL_W;
  uint channel = (image * in_channels + o / group_outputs * group_channels) * in_h * in_w;
  T sum = T(0);
  if (HAS_BIAS != 0u) sum = bias_load(o);
  for (uint i = 0u; i < group_channels; ++i, channel += in_h * in_w)
    for (uint r = 0u; r < KERNEL_H; ++r) {
      uint row = uint(top + int(r * dilation_h));
      for (uint s = 0u; s < KERNEL_W; ++s, ++weight) {
        // As unsigned numbers, negative coordinates are too large as well.
        uint column = uint(left + int(s * dilation_w));
        if (row < in_h && column < in_w) sum += a_load(weight) * b_load(channel + row * in_w + column);
      }
    }
  c_store(at, sum);
}
