// Writes one input's rows, of row_in units each, into y's longer rows. A thread moves four units that
// are adjacent in x; with `wide` they are in y, too.
void main() {
  uint first = 4 * stoker_index();
  if (first >= n) return;
  uint row = first / row_in;
  uint column = first - row * row_in;
  uint at = start + row * row_out + column;
  if (wide != 0) {
    y_store4(at / 4, x_load4(first / 4));
    return;
  }
  T4 held = T4(0);
  if (first + 4 <= n) {
    held = x_load4(first / 4);
  } else {
    [[unroll]] for (uint i = 0; i < 4; ++i) if (first + i < n) held[i] = x_load(first + i);
  }
  [[unroll]] for (uint i = 0; i < 4; ++i) {
    if (first + i < n) y_store(at, held[i]);
    ++at;
    if (++column == row_in) {
      column = 0;
      at += row_out - row_in;
    }
  }
}
