// What the three ways to reduce share: S is the dtype of the values, D that of sums and of what is left, whose
// compute type carries the arithmetic. `count` divides the result: 1 for all but a mean.
//
// FUSED: the values are those of functions that stand before this text (kernels/fused/reduction_shader.cpp),
// which also gives other names to the fields and constants; FOUR: one for four neighbours is among them.

D reduce_across(D4 v) {
  return reduce_combine(reduce_combine(v.x, v.y), reduce_combine(v.z, v.w));
}

// Truths, 0 or 1: their product says whether all are true, their largest whether any is.
#if D_IS_u8
D reduce_operand(S x) { return operation < 5 ? D(x) : D(x != S(0)); }
#else
D reduce_operand(S x) { return D(x); }
#endif

#ifdef FUSED
#define VALUE(at) fused_value(at)
#define VALUES4(at) fused_values(4u * (at))
#else
#define VALUE(at) x_load(at)
#define VALUES4(at) x_load4(at)
#define FOUR 1
#endif

D reduce_one(uint at) { return reduce_operand(VALUE(at)); }
// Elements 4 at … 4 at + 3.
D4 reduce_four(uint at) {
#if FOUR
  S4 v = VALUES4(at);
  return D4(reduce_operand(v.x), reduce_operand(v.y), reduce_operand(v.z), reduce_operand(v.w));
#else
  at *= 4u;
  return D4(reduce_one(at), reduce_one(at + 1u), reduce_one(at + 2u), reduce_one(at + 3u));
#endif
}

// Elements base + i, base + i + apart, … below base + n; four are loaded at a time.
D reduce_every(uint base, uint i, uint n, uint apart) {
  D sum = reduce_identity();
  for (; i + 3 * apart < n; i += 4 * apart) {
    D a = reduce_one(base + i), b = reduce_one(base + i + apart);
    D c = reduce_one(base + i + 2 * apart), d = reduce_one(base + i + 3 * apart);
    sum = reduce_combine(sum, reduce_combine(reduce_combine(a, b), reduce_combine(c, d)));
  }
  for (; i < n; i += apart) sum = reduce_combine(sum, reduce_one(base + i));
  return sum;
}

D reduce_divided(D sum) {
#if D_IS_FLOAT
  // The mean of none is NaN.
  if (count != 1) return count == 0 ? D(uintBitsToFloat(0x7fc00000u)) : sum / D(count);
#endif
  return sum;
}
