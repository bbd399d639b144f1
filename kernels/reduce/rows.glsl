// y[item] = x[outer][piece of the row], reduced by `lanes` threads, a power of two. An item is a
// (row, piece) pair; a group has 256 / lanes of them. `wide`: rows begin at multiples of four.
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

D combine4(D4 v) { return combine(combine(v.x, v.y), combine(v.z, v.w)); }

shared D part[256];

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint member = lane % lanes;
  uint item = stoker_group() * (256 / lanes) + lane / lanes;
  D sum = identity();
  if (item < items) {
    uint first = item % pieces * length;
    uint n = min(first + length, reduced) - first;
    uint base = item / pieces * reduced + first;
    if (wide != 0) {
      uint quad = member, quads = n / 4, at = base / 4;
      for (; quad + 3 * lanes < quads; quad += 4 * lanes) {
        D4 a = operand4(x_load4(at + quad)), b = operand4(x_load4(at + quad + lanes));
        D4 c = operand4(x_load4(at + quad + 2 * lanes));
        D4 d = operand4(x_load4(at + quad + 3 * lanes));
        sum = combine(sum, combine(combine(combine4(a), combine4(b)),
                                   combine(combine4(c), combine4(d))));
      }
      for (; quad < quads; quad += lanes)
        sum = combine(sum, combine4(operand4(x_load4(at + quad))));
    } else {
      uint i = member;
      for (; i + 3 * lanes < n; i += 4 * lanes)
        sum = combine(sum, combine4(operand4(S4(x_load(base + i), x_load(base + i + lanes),
                                                x_load(base + i + 2 * lanes),
                                                x_load(base + i + 3 * lanes)))));
      for (; i < n; i += lanes) sum = combine(sum, operand(x_load(base + i)));
    }
  }
  part[lane] = sum;
  for (uint half_team = lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) part[lane] = combine(part[lane], part[lane + half_team]);
  }
  if (member != 0 || item >= items) return;
#if D_IS_FLOAT
  // A row of no elements has the count 0, and its mean is NaN.
  if (count != 1)
    part[lane] = count == 0 ? D(uintBitsToFloat(0x7fc00000u)) : part[lane] / D(count);
#endif
  y_store(item, part[lane]);
}
