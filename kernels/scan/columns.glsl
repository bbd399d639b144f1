// y[outer][row][column] = the combination of all x above it (below it with `reverse`), one thread for
// each column of each piece of rows. With `totals`, y[outer][piece][column] is the piece's whole
// instead. With `carried`, a piece begins with what carry[outer][piece before][column] holds.

#include "reduce/combining.glsl"

void main() {
  uint item = stoker_index();
  if (item >= items) return;
  uint column = item % inner;
  uint at_piece = item / inner % pieces;
  uint outer = item / inner / pieces;
  uint first = at_piece * piece;
  uint end = min(first + piece, length);

  D sum = reduce_identity();
  // In the order of walking, the piece before is the one after in memory if the walk is reversed.
  if (carried != 0 && at_piece != (reverse != 0 ? pieces - 1 : 0))
    sum = carry_load(reverse != 0 ? item + inner : item - inner);
  uint base = outer * length * inner + column;
  for (uint i = first; i < end; ++i) {
    uint at = base + (reverse != 0 ? first + end - 1 - i : i) * inner;
    sum = reduce_combine(sum, D(x_load(at)));
    if (totals == 0) y_store(at, sum);
  }
  if (totals != 0) y_store(item, sum);
}
