// y[outer][piece][column] = x[outer][piece of the rows][column], reduced downwards, for rows of at
// most 32 elements. A group takes one piece and reads it straight through: as many threads as are a
// multiple of the row's length, so that each meets one column only.
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

// Comparisons rather than min and max: those may drop a NaN.
D combine(D a, D b) {
  if (operation == 0) return a + b;
  if (operation == 4 || operation == 5) return a * b;
#if D_IS_FLOAT
  if (isnan(b)) return b;
#endif
  return (operation == 2 ? b < a : b > a) ? b : a;
}

shared D part[256];

void main() {
  uint item = stoker_group();
  if (item >= items) return;
  uint lane = gl_LocalInvocationID.x;
  uint first = item % pieces * length;
  uint n = (min(first + length, reduced) - first) * inner;
  uint base = (item / pieces * reduced + first) * inner;
  uint active_lanes = 256 / inner * inner;

  D sum = identity();
  if (lane < active_lanes) {
    uint i = lane;
    for (; i + 3 * active_lanes < n; i += 4 * active_lanes) {
      D a = operand(x_load(base + i)), b = operand(x_load(base + i + active_lanes));
      D c = operand(x_load(base + i + 2 * active_lanes));
      D d = operand(x_load(base + i + 3 * active_lanes));
      sum = combine(sum, combine(combine(a, b), combine(c, d)));
    }
    for (; i < n; i += active_lanes) sum = combine(sum, operand(x_load(base + i)));
  }
  part[lane] = sum;
  barrier();
  if (lane >= inner) return;
  for (uint other = lane + inner; other < active_lanes; other += inner)
    sum = combine(sum, part[other]);
#if D_IS_FLOAT
  if (count != 1) sum /= D(count);
#endif
  y_store(item * inner + lane, sum);
}
