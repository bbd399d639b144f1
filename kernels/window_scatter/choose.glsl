// chosen[w] = the offset in x of the extreme of window w, the first of equals; the first NaN if there
// is one; 0xffffffff for a window of padding only. Axis by axis, a window takes `sizes` elements from
// place w · strides - lows on, of which those inside count. `sizes_strides` holds both by halves.
void main() {
  uint w = stoker_index();
  if (w >= n) return;
  uint count[5], step[5];
  uint rest = w, stride = 1, taps = 1, at = 0;
  [[unroll]] for (uint k = 0; k < rank; ++k) {
    uint axis = rank - 1 - k;
    int begin = int(rest % windows[axis] * (sizes_strides[axis] >> 16)) - int(lows[axis]);
    rest /= windows[axis];
    int end = min(begin + int(sizes_strides[axis] & 65535u), int(extents[axis]));
    begin = max(begin, 0);
    count[axis] = end > begin ? uint(end - begin) : 0;
    step[axis] = stride;
    at += uint(begin) * stride;
    taps *= count[axis];
    stride *= extents[axis];
  }
  uint best_at = 0xffffffffu;
  T best = T(0);
  for (uint tap = 0; tap < taps; ++tap) {
    uint left = tap, place = at;
    [[unroll]] for (uint k = 0; k < rank; ++k) {
      uint axis = rank - 1 - k;
      place += left % count[axis] * step[axis];
      left /= count[axis];
    }
    T v = x_load(place);
    if (best_at != 0xffffffffu) {
#if T_IS_FLOAT
      if (isnan(best)) break;
      if (!isnan(v))
#endif
        if (smallest != 0 ? v >= best : v <= best) continue;
    }
    best = v;
    best_at = place;
  }
  chosen_store(w, best_at);
}
