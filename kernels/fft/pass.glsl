// One pass of Stockham's transform, over rows of n pairs: x[q + s·(p + m·j)] for j < r become
// y[q + s·(r·p + k)] = Σ_j x_j·e^(∓2πi·k·(p + m·j)/(r·m)), where s is the product of the radices before
// and m of those behind. Each thread computes one pair. Roots of unity come from an eighth of a turn,
// where short series are exact to the last place.
void root(uint k, uint len, out T c, out T s) {
  uint eighth = 8 * k / len;
  uint rest = 8 * k - eighth * len;
  if ((eighth & 1) != 0) rest = len - rest;
#if T_IS_f64
  T x = 0.785398163397448309615660845819876LF * T(rest) / T(len);
  T z = x * x;
  T a = x * (1.0LF + z * (-1.0LF / 6.0LF + z * (1.0LF / 120.0LF + z * (-1.0LF / 5040.0LF +
        z * (1.0LF / 362880.0LF + z * (-1.0LF / 39916800.0LF + z * (1.0LF / 6227020800.0LF +
        z * (-1.0LF / 1307674368000.0LF + z / 355687428096000.0LF))))))));
  T b = 1.0LF + z * (-0.5LF + z * (1.0LF / 24.0LF + z * (-1.0LF / 720.0LF + z * (1.0LF / 40320.0LF +
        z * (-1.0LF / 3628800.0LF + z * (1.0LF / 479001600.0LF + z * (-1.0LF / 87178291200.0LF +
        z / 20922789888000.0LF)))))));
#else
  T x = 0.78539816339744831 * T(rest) / T(len);
  T z = x * x;
  T a = x * (1.0 + z * (-1.0 / 6.0 + z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z / 362880.0))));
  T b = 1.0 + z * (-0.5 + z * (1.0 / 24.0 + z * (-1.0 / 720.0 + z * (1.0 / 40320.0 -
        z / 3628800.0))));
#endif
  bool swapped = ((eighth + 1) & 2) != 0;
  c = swapped ? a : b;
  s = swapped ? b : a;
  if (eighth >= 2 && eighth < 6) c = -c;
  if (eighth >= 4) s = -s;
}

void main() {
  uint t = stoker_index();
  if (t >= total) return;
  uint row = t / n * n;
  uint i = t - row;
  uint q = i % before;
  uint k = i / before % radix;
  uint p = i / before / radix;
  uint len = radix * rest;
  T re = T(0), im = T(0);
  for (uint j = 0; j < radix; ++j) {
    T c, s;
    uint at = p + rest * j;
    root(k * at % len, len, c, s);
    if (inverse == 0) s = -s;
    uint from = 2 * (row + q + before * at);
    T a = x_load(from), b = x_load(from + 1);
    re += a * c - b * s;
    im += a * s + b * c;
  }
  T scale = last != 0 && inverse != 0 ? T(n) : T(1);
  y_store(2 * t, re / scale);
  y_store(2 * t + 1, im / scale);
}
