// Four elements a thread: x > cut decides between a level and x itself.

#if T_IS_FLOAT
#define TO_T4(v) (v)
#else
#define TO_T4(v) T4((v) + 0.5)
#endif

vec4 chosen(vec4 x) {
  vec4 high = keeps_above != 0u ? x : vec4(above);
  vec4 low = keeps_below != 0u ? x : vec4(below);
  vec4 value = mix(low, high, greaterThan(x, vec4(cut)));
  return vec4(value.xyz, alpha != 0u ? x.w : value.w);
}

void main() {
  uint quad = stoker_index();
  uint first = 4u * quad;
  if (first + 4u <= n) {
    y_store4(quad, TO_T4(chosen(vec4(x_load4(quad)))));
  } else {
    // Images with alpha are whole groups of four.
    for (uint i = first; i < n; ++i) y_store(i, TO_T4(chosen(vec4(float(x_load(i))))).x);
  }
}
