// y[outer][r][column] = the combination of x[outer][…][column] over window r of one axis; places
// that hold no element are left out. `wide`: a thread takes four adjacent columns, and `inner` counts
// in fours.
#if D_IS_f32 || D_IS_f16 || D_IS_bf16
#define LEAST uintBitsToFloat(0xff800000u)
#define MOST uintBitsToFloat(0x7f800000u)
#elif D_IS_f64
#define LEAST double(uintBitsToFloat(0xff800000u))
#define MOST double(uintBitsToFloat(0x7f800000u))
#elif D_IS_s64
#define LEAST int64_t(0x8000000000000000L)
#define MOST int64_t(0x7fffffffffffffffL)
#elif D_IS_u64
#define LEAST uint64_t(0)
#define MOST uint64_t(0xffffffffffffffffUL)
#elif D_IS_s8
#define LEAST -128
#define MOST 127
#elif D_IS_s16
#define LEAST -32768
#define MOST 32767
#elif D_IS_s32
#define LEAST int(0x80000000)
#define MOST 2147483647
#elif D_IS_u8
#define LEAST 0u
#define MOST 255u
#elif D_IS_u16
#define LEAST 0u
#define MOST 65535u
#else
#define LEAST 0u
#define MOST 4294967295u
#endif

// Comparisons rather than min and max: those may drop a NaN.
D combine(D a, D b) {
  if (operation == 0) return a + b;
  if (operation == 1) return a * b;
#if D_IS_FLOAT
  if (isnan(b)) return b;
#endif
  return (operation == 2 ? b > a : b < a) ? b : a;
}

D4 combine(D4 a, D4 b) {
  return D4(combine(a.x, b.x), combine(a.y, b.y), combine(a.z, b.z), combine(a.w, b.w));
}

void main() {
  uint i = stoker_index();
  if (i >= n) return;
  uint column = i % inner;
  uint r = i / inner % results;
  uint base = i / inner / results * extent * inner + column;
  D neutral = operation == 0 ? D(0) : operation == 1 ? D(1) : operation == 2 ? LEAST : MOST;
  D4 sum = D4(neutral);
  int place = int(r) * stride - low;
  for (uint tap = 0; tap < window; ++tap, place += window_dilation) {
    int at = place;
    if (dilated != 0) {
      if (place < 0 || place % base_dilation != 0) continue;
      at = place / base_dilation;
    }
    if (at < 0 || at >= int(extent)) continue;
    if (wide != 0)
      sum = combine(sum, D4(x_load4(base + uint(at) * inner)));
    else
      sum.x = combine(sum.x, D(x_load(base + uint(at) * inner)));
  }
  if (wide != 0)
    y_store4(i, sum);
  else
    y_store(i, sum.x);
}
