// Four output units a thread. Rows may trade places; within a row pixels may, and the units of a
// pixel keep their order.

uint source(uint i) {
  uint y = i / row;
  uint column = i - y * row;
  if (turns != 0u) y = height - 1u - y;
  if (mirrors != 0u) {
    uint p = column / pixel;
    column = (row - pixel) - p * pixel + (column - p * pixel);
  }
  return y * row + column;
}

void main() {
  uint quad = stoker_index();
  uint first = 4u * quad;
  if (first >= n) return;
  if (wide != 0u) {
    y_store4(quad, x_load4(source(first) / 4u));
  } else if (first + 4u <= n) {
    y_store4(quad, T4(x_load(source(first)), x_load(source(first + 1u)), x_load(source(first + 2u)),
                      x_load(source(first + 3u))));
  } else {
    for (uint i = first; i < n; ++i) y_store(i, x_load(source(i)));
  }
}
