// y[row][i] = the combination of all x[row] up to i (from i on with `reverse`). A group takes one
// piece of a row, 4096 elements at a time: 256 threads with one quad in each of four parts of 1024.
// A quad is scanned by its thread, the threads' totals by doubling distances (Hillis and Steele,
// "Data parallel algorithms", 1986) for all four parts at once, and the parts one after the other.
//
// With `totals`, y[row][piece] is the piece's whole instead. With `carried`, a piece begins with
// what carry[row][piece before] holds. `wide`: rows begin at multiples of four.

#include "reduce/combining.glsl"

shared D4 part[256];

// Where the quad at walking position i of a row begins in memory; with `reverse` it is read backwards.
uint place(uint base, uint i) { return reverse != 0 ? base + length - 1 - i : base + i; }

D4 fetch(uint base, uint i, uint end) {
  if (wide != 0 && i + 4 <= end) {
    if (reverse == 0) return D4(x_load4((base + i) / 4));
    return D4(x_load4((base + length - 4 - i) / 4)).wzyx;
  }
  D4 v = D4(reduce_identity());
  for (uint k = 0; k < 4; ++k)
    if (i + k < end) v[k] = D(x_load(place(base, i + k)));
  return v;
}

void leave(uint base, uint i, uint end, D4 v) {
  if (wide != 0 && i + 4 <= end) {
    if (reverse == 0)
      y_store4((base + i) / 4, v);
    else
      y_store4((base + length - 4 - i) / 4, v.wzyx);
    return;
  }
  for (uint k = 0; k < 4; ++k)
    if (i + k < end) y_store(place(base, i + k), v[k]);
}

void main() {
  uint item = stoker_group();
  if (item >= items) return;
  uint lane = gl_LocalInvocationID.x;
  uint row = item / pieces;
  // Pieces and elements are counted in the order of walking. The last piece is the shorter one in
  // memory, so with `reverse` it comes first.
  uint at_piece = item % pieces;
  uint first = at_piece * piece;
  uint end = min(first + piece, length);
  if (reverse != 0) {
    uint begin = length - end;
    end = length - first;
    first = begin;
  }
  uint base = row * length;

  D sum = reduce_identity();
  if (carried != 0 && at_piece != (reverse != 0 ? pieces - 1 : 0))
    sum = carry_load(reverse != 0 ? item + 1 : item - 1);
  for (uint start = first; start < end; start += 4096) {
    D4 v[4];
    D4 own;
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      v[k] = fetch(base, start + 1024 * k + 4 * lane, end);
      v[k].y = reduce_combine(v[k].x, v[k].y);
      v[k].z = reduce_combine(v[k].y, v[k].z);
      v[k].w = reduce_combine(v[k].z, v[k].w);
      own[k] = v[k].w;
    }
    part[lane] = own;
    for (uint distance = 1; distance < 256; distance *= 2) {
      barrier();
      D4 other = lane >= distance ? part[lane - distance] : D4(reduce_identity());
      barrier();
      if (lane >= distance) {
        own = reduce_combine(other, own);
        part[lane] = own;
      }
    }
    barrier();
    D4 whole = part[255];
    D4 before = lane > 0 ? part[lane - 1] : D4(reduce_identity());
    barrier();
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      if (totals == 0)
        leave(base, start + 1024 * k + 4 * lane, end,
              reduce_combine(D4(reduce_combine(sum, before[k])), v[k]));
      sum = reduce_combine(sum, whole[k]);
    }
  }
  if (totals != 0 && lane == 0) y_store(item, sum);
}
