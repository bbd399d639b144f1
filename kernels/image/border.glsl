// The index in [0, count) that stands for i, any number of periods away; -1: zero does. As border_index().
int inside(int i, int count) {
  if (i >= 0 && i < count) return i;
  if (border == 0u) return clamp(i, 0, count - 1);
  if (border == 3u) return -1;
  if (border == 2u) return i < 0 ? count - 1 - (-i - 1) % count : i % count;
  if (count == 1) return 0;
  int period = 2 * (count - 1);
  int phase = abs(i) % period;
  return phase < count ? phase : period - phase;
}
