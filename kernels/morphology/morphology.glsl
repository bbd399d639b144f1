// One element a thread: the extreme value of its column, of its row, of both, or of a disk.

#if MOST
#define EXTREME(a, b) max(a, b)
#else
#define EXTREME(a, b) min(a, b)
#endif

#include "image/border.glsl"

// The value of one channel at a row and column, which may be -1.
T value(int row, int column, uint channel) {
  if (row < 0 || column < 0) return T(0);
  return x_load((uint(row) * width + uint(column)) * channels + channel);
}

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint pixel = i / channels;
  uint channel = i - pixel * channels;
  T result = x_load(i);
  if (channel == 3u) {
    y_store(i, result);
    return;
  }
  int row = int(pixel / width);
  int column = int(pixel - uint(row) * width);
  int reach = int(radius);
  if (down != 0u) {
    for (int k = -reach; k <= reach; ++k)
      result = EXTREME(result, value(inside(row + k, int(height)), column, channel));
  }
  if (across != 0u) {
    for (int k = -reach; k <= reach; ++k)
      result = EXTREME(result, value(row, inside(column + k, int(width)), channel));
  }
  if (disk != 0u) {
    for (int dy = -reach; dy <= reach; ++dy) {
      int from = inside(row + dy, int(height));
      for (int dx = -reach; dx <= reach; ++dx)
        if (dx * dx + dy * dy <= reach * reach)
          result = EXTREME(result, value(from, inside(column + dx, int(width)), channel));
    }
  }
  y_store(i, result);
}
