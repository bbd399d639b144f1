// Copies rows of row_out units out of rows of row_in units, four units a thread. The output is dense,
// so its four lie together; the input's do only within a row.

void main() {
  uint quad = stoker_index();
  uint first = 4u * quad;
  if (first >= n) return;
  uint row = first / row_out;
  uint column = first - row * row_out;
  uint from = start + row * row_in + column;
  if (wide != 0u) {
    y_store4(quad, x_load4(from / 4u));
    return;
  }
  uint count = min(4u, n - first);
  T4 values = T4(0);
  for (uint i = 0u; i < count; ++i) {
    values[i] = x_load(from);
    ++from;
    if (++column == row_out) {
      column = 0u;
      from += row_in - row_out;
    }
  }
  if (count == 4u) {
    y_store4(quad, values);
  } else {
    for (uint i = 0u; i < count; ++i) y_store(first + i, values[i]);
  }
}
