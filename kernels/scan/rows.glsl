// y[row][i] = the combination of all x[row] up to i (from i on with `reverse`). A group takes one
// piece of a row, 4096 elements at a time: 256 threads with one quad in each of four parts of 1024.
// A quad is scanned by its thread, the threads' totals by doubling distances (Hillis and Steele,
// "Data parallel algorithms", 1986) for all four parts at once, and the parts one after the other.
//
// With `totals`, y[row][piece] is the piece's whole instead. With `carried`, a piece begins with
// what carry[row][piece before] holds. `wide`: rows begin at multiples of four.

P identity() {
  return operation == 0 ? P(0) : operation == 1 ? P(1) : operation == 2 ? P_LEAST : P_MOST;
}

// Comparisons rather than min and max: those may drop a NaN.
P combine(P a, P b) {
  if (operation == 0) return a + b;
  if (operation == 1) return a * b;
#if P_IS_FLOAT
  if (isnan(b)) return b;
#endif
  return (operation == 2 ? b > a : b < a) ? b : a;
}

P4 combine(P4 a, P4 b) {
  return P4(combine(a.x, b.x), combine(a.y, b.y), combine(a.z, b.z), combine(a.w, b.w));
}

shared P4 part[256];

// Where the quad at walking position i of a row begins in memory; with `reverse` it is read backwards.
uint place(uint base, uint i) { return reverse != 0 ? base + length - 1 - i : base + i; }

P4 fetch(uint base, uint i, uint end) {
  if (wide != 0 && i + 4 <= end) {
    if (reverse == 0) return P4(x_load4((base + i) / 4));
    return P4(x_load4((base + length - 4 - i) / 4)).wzyx;
  }
  P4 v = P4(identity());
  for (uint k = 0; k < 4; ++k)
    if (i + k < end) v[k] = P(x_load(place(base, i + k)));
  return v;
}

void leave(uint base, uint i, uint end, P4 v) {
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

  P sum = identity();
  if (carried != 0 && at_piece != (reverse != 0 ? pieces - 1 : 0))
    sum = carry_load(reverse != 0 ? item + 1 : item - 1);
  for (uint start = first; start < end; start += 4096) {
    P4 v[4];
    P4 own;
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      v[k] = fetch(base, start + 1024 * k + 4 * lane, end);
      v[k].y = combine(v[k].x, v[k].y);
      v[k].z = combine(v[k].y, v[k].z);
      v[k].w = combine(v[k].z, v[k].w);
      own[k] = v[k].w;
    }
    part[lane] = own;
    for (uint distance = 1; distance < 256; distance *= 2) {
      barrier();
      P4 other = lane >= distance ? part[lane - distance] : P4(identity());
      barrier();
      if (lane >= distance) {
        own = combine(other, own);
        part[lane] = own;
      }
    }
    barrier();
    P4 whole = part[255];
    P4 before = lane > 0 ? part[lane - 1] : P4(identity());
    barrier();
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      if (totals == 0)
        leave(base, start + 1024 * k + 4 * lane, end,
              combine(P4(combine(sum, before[k])), v[k]));
      sum = combine(sum, whole[k]);
    }
  }
  if (totals != 0 && lane == 0) y_store(item, sum);
}
