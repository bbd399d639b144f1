// y = apply(a) or apply(a, b), where each of two operands is as long as y or (`a_single`, `b_single`) one
// element.
#if OPERANDS == 1
T a1(uint i) { return a_load(i); }
T b1(uint i) { return T(0); }
T4 a4(uint quad) { return a_load4(quad); }
T4 b4(uint quad) { return T4(0); }
#else
T a1(uint i) { return a_load(a_single != 0 ? 0 : i); }
T b1(uint i) { return b_load(b_single != 0 ? 0 : i); }
T4 a4(uint quad) { return a_single != 0 ? T4(a_load(0)) : a_load4(quad); }
T4 b4(uint quad) { return b_single != 0 ? T4(b_load(0)) : b_load4(quad); }
#endif

R4 apply4(T4 a, T4 b) {
  return R4(apply(a.x, b.x), apply(a.y, b.y), apply(a.z, b.z), apply(a.w, b.w));
}

void main() {
#if !(T_IS_f64 || T_IS_s64 || T_IS_u64)
  uint quads = n / 4;
  uint first = stoker_group() * 4 * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (first + 3 * gl_WorkGroupSize.x < quads) {
    // All loads before the first store: the compiler may not move a load across one by itself.
    T4 left[4], right[4];
    for (uint k = 0; k < 4; ++k) {
      left[k] = a4(first + k * gl_WorkGroupSize.x);
      right[k] = b4(first + k * gl_WorkGroupSize.x);
    }
    for (uint k = 0; k < 4; ++k)
      y_store4(first + k * gl_WorkGroupSize.x, apply4(left[k], right[k]));
  } else {
    for (uint quad = first; quad < min(quads, first + 4 * gl_WorkGroupSize.x);
         quad += gl_WorkGroupSize.x) {
      // One apply() for all four: each is inlined, and the last group matters little.
      T4 left = a4(quad), right = b4(quad);
      R4 result;
      for (uint c = 0; c < 4; ++c) result[c] = apply(left[c], right[c]);
      y_store4(quad, result);
    }
  }
  uint i = quads * 4 + gl_LocalInvocationID.x;
  if (stoker_group() == 0 && i < n) y_store(i, apply(a1(i), b1(i)));
#else
  // Four 8-byte elements are more than a thread stores at once; single ones keep threads adjacent.
  uint first = stoker_group() * 16 * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  for (uint part = 0; part < 2; ++part, first += 8 * gl_WorkGroupSize.x) {
    if (first + 7 * gl_WorkGroupSize.x < n) {
      T left[8], right[8];
      for (uint k = 0; k < 8; ++k) {
        left[k] = a1(first + k * gl_WorkGroupSize.x);
        right[k] = b1(first + k * gl_WorkGroupSize.x);
      }
      for (uint k = 0; k < 8; ++k)
        y_store(first + k * gl_WorkGroupSize.x, apply(left[k], right[k]));
    } else {
      for (uint i = first; i < min(n, first + 8 * gl_WorkGroupSize.x); i += gl_WorkGroupSize.x)
        y_store(i, apply(a1(i), b1(i)));
    }
  }
#endif
}
