// y = a op b, where each operand is as long as y or (`a_single`, `b_single`) one element.
T apply(T a, T b) {
  if (operation == 0) return a + b;
  if (operation == 1) return a - b;
  if (operation == 2) return a * b;
#if T_IS_FLOAT
  return a / b;
#else
  // The language leaves both x / 0 and min / -1 open; here they are 0 and min.
  if (b == T(0)) return T(0);
#if T_IS_s8 || T_IS_s16 || T_IS_s32 || T_IS_s64
  if (b == T(-1)) return -a;
#endif
  return a / b;
#endif
}

T4 apply4(T4 a, T4 b) {
  return T4(apply(a.x, b.x), apply(a.y, b.y), apply(a.z, b.z), apply(a.w, b.w));
}

T a1(uint i) { return a_load(a_single != 0 ? 0 : i); }
T b1(uint i) { return b_load(b_single != 0 ? 0 : i); }
T4 a4(uint quad) { return a_single != 0 ? T4(a_load(0)) : a_load4(quad); }
T4 b4(uint quad) { return b_single != 0 ? T4(b_load(0)) : b_load4(quad); }

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
         quad += gl_WorkGroupSize.x)
      y_store4(quad, apply4(a4(quad), b4(quad)));
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
