// The order of elements and, of equal ones, of their positions.
bool before(T a, uint at_a, T b, uint at_b) {
#if T_IS_FLOAT
  // NaN is the largest.
  bool nan_a = isnan(a), nan_b = isnan(b);
  if (nan_a || nan_b) {
    if (nan_a && nan_b) return at_a < at_b;
    return descending != 0 ? nan_a : nan_b;
  }
#endif
  if (a == b) return at_a < at_b;
  return descending != 0 ? a > b : a < b;
}
