// One element a thread. Of COUNT / 2 + 2 values neither the least nor the most is in the middle: both
// drop out and the next value of the window comes in, until three are left.

const int SIDE = 2 * RADIUS + 1;
const int COUNT = SIDE * SIDE;
const int KEPT = COUNT / 2 + 2;

#include "image/border.glsl"

int rows[SIDE];
int columns[SIDE];

// Value k of the window.
T value(int k) {
  int row = rows[k / SIDE];
  int column = columns[k % SIDE];
  return row < 0 || column < 0 ? T(0) : x_load(uint(row + column));
}

#define EXCHANGE(low, high)       \
  {                               \
    T least = min(low, high);     \
    high = max(low, high);        \
    low = least;                  \
  }

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint pixel = i / channels;
  uint channel = i - pixel * channels;
  if (channel == 3u) {
    y_store(i, x_load(i));
    return;
  }
  int row = int(pixel / width);
  int column = int(pixel - uint(row) * width);
  [[unroll]] for (int k = 0; k < SIDE; ++k) {
    int from = inside(row + k - RADIUS, int(height));
    rows[k] = from < 0 ? -1 : from * int(width * channels);
    from = inside(column + k - RADIUS, int(width));
    columns[k] = from < 0 ? -1 : from * int(channels) + int(channel);
  }

  T v[KEPT];
  [[unroll]] for (int k = 0; k < KEPT; ++k) v[k] = value(k);
  [[unroll]] for (int live = KEPT; live >= 3; --live) {
    [[unroll]] for (int k = 0; k < live / 2; ++k) EXCHANGE(v[k], v[live - 1 - k])
    [[unroll]] for (int k = 1; k < (live + 1) / 2; ++k) EXCHANGE(v[0], v[k])
    [[unroll]] for (int k = live / 2; k < live - 1; ++k) EXCHANGE(v[k], v[live - 1])
    int next = KEPT + (KEPT - live);
    if (next < COUNT) v[0] = value(next);
  }
  y_store(i, v[1]);
}
