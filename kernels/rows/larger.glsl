// Largest elements, of which a row's threads begin with `lowest`.
#define lowest uintBitsToFloat(0xff800000u)

// Comparisons rather than max: that may drop a NaN.
float larger(float a, float b) { return b > a || isnan(b) ? b : a; }
