// How two values of type D become one: an operation of reduce/operation.hpp, which the constant `operation` is.

D reduce_identity() {
  return operation == 1                     ? D_LEAST
         : operation == 2                   ? D_MOST
         : operation == 4 || operation == 5 ? D(1)
                                            : D(0);
}

// Comparisons rather than min and max: those may drop a NaN.
D reduce_combine(D a, D b) {
  if (operation == 0) return a + b;
  if (operation == 4 || operation == 5) return a * b;
#if D_IS_FLOAT
  if (isnan(b)) return b;
#endif
  return (operation == 2 ? b < a : b > a) ? b : a;
}
D4 reduce_combine(D4 a, D4 b) {
  return D4(reduce_combine(a.x, b.x), reduce_combine(a.y, b.y), reduce_combine(a.z, b.z),
            reduce_combine(a.w, b.w));
}
