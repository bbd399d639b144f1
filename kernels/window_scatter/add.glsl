// y[i] = start + the sources of all windows that chose element i, in the windows' order. Along an axis
// element p lies in the windows w with w · strides - lows ≤ p < w · strides - lows + sizes.
// `sizes_strides` holds both by halves.
void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint first[5], count[5], step[5];
  uint rest = i, stride = 1, total = 1;
  [[unroll]] for (uint k = 0; k < rank; ++k) {
    uint axis = rank - 1 - k;
    uint place = rest % extents[axis] + lows[axis];
    rest /= extents[axis];
    uint size = sizes_strides[axis] & 65535u;
    uint gap = sizes_strides[axis] >> 16;
    first[axis] = place >= size ? (place - size) / gap + 1 : 0;
    uint end = min(place / gap + 1, windows[axis]);
    count[axis] = end > first[axis] ? end - first[axis] : 0;
    step[axis] = stride;
    total *= count[axis];
    stride *= windows[axis];
  }
  T sum = start_load(0);
  for (uint k = 0; k < total; ++k) {
    uint left = k, w = 0;
    [[unroll]] for (uint j = 0; j < rank; ++j) {
      uint axis = rank - 1 - j;
      w += (first[axis] + left % count[axis]) * step[axis];
      left /= count[axis];
    }
    if (chosen_load(w) == i) sum += source_load(w);
  }
  y_store(i, sum);
}
