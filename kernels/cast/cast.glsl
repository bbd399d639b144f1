// y = D(x). Integers wrap when they are stored, so only floats that become integers need care: what
// the language leaves open there saturates, and NaN is 0.

#include "scalar/limits.glsl"

// The first number above MOST.
#if D_IS_s8
#define BEYOND 128.0
#elif D_IS_s16
#define BEYOND 32768.0
#elif D_IS_s32
#define BEYOND 2147483648.0
#elif D_IS_s64
#define BEYOND 9223372036854775808.0
#elif D_IS_u8
#define BEYOND 256.0
#elif D_IS_u16
#define BEYOND 65536.0
#elif D_IS_u32
#define BEYOND 4294967296.0
#elif D_IS_u64
#define BEYOND 18446744073709551616.0
#endif

D convert(S x) {
#if D_IS_bool
  return uint(x != S(0));
#elif D_IS_FLOAT || !S_IS_FLOAT
  return D(x);
#else
  if (isnan(x)) return D(0);
  if (x >= S(BEYOND)) return D(MOST);
#if D_IS_u8 || D_IS_u16 || D_IS_u32 || D_IS_u64
  if (x <= S(0)) return D(LEAST);
#else
  if (x <= -S(BEYOND)) return D(LEAST);
#endif
  return D(x);
#endif
}

D4 convert4(S4 x) { return D4(convert(x.x), convert(x.y), convert(x.z), convert(x.w)); }

void main() {
#if !(D_IS_f64 || D_IS_s64 || D_IS_u64)
  uint quads = n / 4;
  uint first = stoker_group() * 4 * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (first + 3 * gl_WorkGroupSize.x < quads) {
    // All loads before the first store: the compiler may not move a load across one by itself.
    S4 held[4];
    for (uint k = 0; k < 4; ++k) held[k] = x_load4(first + k * gl_WorkGroupSize.x);
    for (uint k = 0; k < 4; ++k) y_store4(first + k * gl_WorkGroupSize.x, convert4(held[k]));
  } else {
    for (uint quad = first; quad < min(quads, first + 4 * gl_WorkGroupSize.x);
         quad += gl_WorkGroupSize.x)
      y_store4(quad, convert4(x_load4(quad)));
  }
  uint i = quads * 4 + gl_LocalInvocationID.x;
  if (stoker_group() == 0 && i < n) y_store(i, convert(x_load(i)));
#else
  // Four 8-byte elements are more than a thread stores at once; single ones keep threads adjacent.
  uint first = stoker_group() * 16 * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  for (uint part = 0; part < 2; ++part, first += 8 * gl_WorkGroupSize.x) {
    if (first + 7 * gl_WorkGroupSize.x < n) {
      S values[8];
      for (uint k = 0; k < 8; ++k) values[k] = x_load(first + k * gl_WorkGroupSize.x);
      for (uint k = 0; k < 8; ++k)
        y_store(first + k * gl_WorkGroupSize.x, convert(values[k]));
    } else {
      for (uint i = first; i < min(n, first + 8 * gl_WorkGroupSize.x); i += gl_WorkGroupSize.x)
        y_store(i, convert(x_load(i)));
    }
  }
#endif
}
