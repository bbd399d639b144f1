// y = operation(x), element by element. The exponential and the logarithm are our own, with the
// series of kernels/cpu/math.hpp: drivers differ in theirs by hundreds of units in the last place.
#if T_IS_FLOAT && !T_IS_f64
const float ln2_high = 0.693145751953125;  // few digits: its product with an exponent is exact
const float ln2_low = 1.42860682030941723212e-6;
#define infinity uintBitsToFloat(0x7f800000u)
#define not_a_number uintBitsToFloat(0x7fc00000u)

float power_of_two(int n) { return intBitsToFloat((n + 127) << 23); }

// e^x = 2^n (1 + p) for |x| below about 100.
float exponential(float x, out int n) {
  float whole = roundEven(x * 1.44269504088896341);
  // Precise: compilers that join the two products undo the split of ln 2.
  precise float high = x - whole * ln2_high;
  precise float r = high - whole * ln2_low;
  n = int(whole);
  return r + r * r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 +
             r * (1.0 / 720 + r * (1.0 / 5040))))));
}

// Comparisons rather than min and max here and below: those may drop a NaN.
float exp_of(float x) {
  float bounded = x < -104.0 ? -104.0 : x > 89.0 ? 89.0 : x;
  int n;
  float p = exponential(bounded, n);
  int part = n >> 1;
  return (1 + p) * power_of_two(part) * power_of_two(n - part);
}

float log_of(float x) {
  bool small = x < 1.17549435e-38;
  float scaled = small ? x * 16777216.0 : x;
  uint shifted = floatBitsToUint(scaled) + (0x3f800000u - 0x3f3504f3u);
  float n = float(int(shifted >> 23) - (small ? 127 + 24 : 127));
  float m = uintBitsToFloat((shifted & 0x7fffffu) + 0x3f3504f3u);
  float s = (m - 1) / (m + 1);
  float z = s * s;
  float log_m = 2 * s + 2 * s * z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 +
                z * (1.0 / 11)))));
  precise float low = n * ln2_low + log_m;
  precise float result = n * ln2_high + low;
  if (x <= 0) return x == 0 ? -infinity : not_a_number;
  return x < infinity ? result : x;
}

float tanh_of(float x) {
  float magnitude = abs(x);
  int n;
  float p = exponential(2 * (magnitude > 9.2 ? 9.2 : magnitude), n);
  float power = power_of_two(n);
  float minus_one = power * p + (power - 1);
  float result = minus_one / (minus_one + 2);
  return x < 0 ? -result : result;
}
#endif

T apply(T x) {
#if T_IS_u8 || T_IS_u16 || T_IS_u32 || T_IS_u64
  return operation == 7 ? T(0) - x : x;
#else
  if (operation == 0) return x < T(0) ? T(0) : x;
  if (operation == 6) return x < T(0) ? -x : x;
  if (operation == 7) return -x;
#if T_IS_FLOAT && !T_IS_f64
  if (operation == 1) return 1 / (1 + exp_of(-x));
  if (operation == 2) return tanh_of(x);
  if (operation == 3) return exp_of(x);
  if (operation == 4) return log_of(x);
  if (operation == 5) return x < 0 ? not_a_number : sqrt(x);
#elif T_IS_f64
  if (operation == 5) return sqrt(x);
#endif
  return x;
#endif
}

T4 apply4(T4 x) { return T4(apply(x.x), apply(x.y), apply(x.z), apply(x.w)); }

void main() {
#if !(T_IS_f64 || T_IS_s64 || T_IS_u64)
  uint quads = n / 4;
  uint first = stoker_group() * 4 * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (first + 3 * gl_WorkGroupSize.x < quads) {
    // All loads before the first store: the compiler may not move a load across one by itself.
    T4 values[4];
    for (uint k = 0; k < 4; ++k) values[k] = x_load4(first + k * gl_WorkGroupSize.x);
    for (uint k = 0; k < 4; ++k) y_store4(first + k * gl_WorkGroupSize.x, apply4(values[k]));
  } else {
    for (uint quad = first; quad < min(quads, first + 4 * gl_WorkGroupSize.x);
         quad += gl_WorkGroupSize.x)
      y_store4(quad, apply4(x_load4(quad)));
  }
  uint i = quads * 4 + gl_LocalInvocationID.x;
  if (stoker_group() == 0 && i < n) y_store(i, apply(x_load(i)));
#else
  // Four 8-byte elements are more than a thread stores at once; single ones keep threads adjacent.
  uint first = stoker_group() * 16 * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  for (uint part = 0; part < 2; ++part, first += 8 * gl_WorkGroupSize.x) {
    if (first + 7 * gl_WorkGroupSize.x < n) {
      T values[8];
      for (uint k = 0; k < 8; ++k) values[k] = x_load(first + k * gl_WorkGroupSize.x);
      for (uint k = 0; k < 8; ++k)
        y_store(first + k * gl_WorkGroupSize.x, apply(values[k]));
    } else {
      for (uint i = first; i < min(n, first + 8 * gl_WorkGroupSize.x); i += gl_WorkGroupSize.x)
        y_store(i, apply(x_load(i)));
    }
  }
#endif
}
