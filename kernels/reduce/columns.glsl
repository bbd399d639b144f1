// y[outer][piece][column] = x[outer][piece of the rows][column], reduced downwards. An item is one
// column of one piece, four adjacent ones with `wide`; 256 / row_lanes items lie side by side in a
// group, and `row_lanes` threads, a power of two, share each.
//
// D's compute type carries the arithmetic. `count` divides the result: 1 for all but a mean.

D identity() {
  if (operation == 1) return D_LEAST;
  if (operation == 2) return D_MOST;
  return operation == 4 || operation == 5 ? D(1) : D(0);
}

// Truths, 0 or 1: their product says whether all are true, their largest whether any is.
#if D_IS_u8
D operand(S x) { return operation < 5 ? D(x) : D(x != S(0)); }
#else
D operand(S x) { return D(x); }
#endif
D4 operand4(S4 x) { return D4(operand(x.x), operand(x.y), operand(x.z), operand(x.w)); }

// Comparisons rather than min and max: those may drop a NaN.
D combine(D a, D b) {
  if (operation == 0) return a + b;
  if (operation == 4 || operation == 5) return a * b;
#if D_IS_FLOAT
  if (isnan(b)) return b;
#endif
  return (operation == 2 ? b < a : b > a) ? b : a;
}

D4 combine(D4 a, D4 b) {
  return D4(combine(a.x, b.x), combine(a.y, b.y), combine(a.z, b.z), combine(a.w, b.w));
}

D4 fetch(uint at) { return wide != 0 ? operand4(x_load4(at)) : D4(operand(x_load(at))); }

shared D4 part[256];

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint across = 256 / row_lanes;
  uint member = lane / across;
  uint item = stoker_group() * across + lane % across;
  uint unit = wide != 0 ? 4 : 1;
  uint columns = inner / unit;  // and below everything counts in units
  uint column = item % columns;
  uint piece = item / columns % pieces;
  uint outer = item / columns / pieces;

  D4 sum = D4(identity());
  if (item < items) {
    uint first = piece * length;
    uint end = min(first + length, reduced);
    uint base = outer * reduced * columns + column;
    uint row = first + member;
    for (; row + 3 * row_lanes < end; row += 4 * row_lanes) {
      D4 a = fetch(base + row * columns), b = fetch(base + (row + row_lanes) * columns);
      D4 c = fetch(base + (row + 2 * row_lanes) * columns);
      D4 d = fetch(base + (row + 3 * row_lanes) * columns);
      sum = combine(sum, combine(combine(a, b), combine(c, d)));
    }
    for (; row < end; row += row_lanes) sum = combine(sum, fetch(base + row * columns));
  }
  part[lane] = sum;
  for (uint half_team = row_lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) part[lane] = combine(part[lane], part[lane + half_team * across]);
  }
  if (member != 0 || item >= items) return;
  sum = part[lane];
#if D_IS_FLOAT
  if (count != 1) sum /= D(count);
#endif
  if (wide != 0)
    y_store4(item, sum);
  else
    y_store(item, sum.x);
}
