// What the shaders of packed products read: four elements of a row of A, and scale and zero point of a block of B.

const uint MASK = (1u << BITS) - 1u;

// Elements t … t+3 of a row; those past its end are 0.
vec4 left4(uint row, uint t) {
  if (row >= m || t >= k) return vec4(0.0);
  if (VECTOR != 0u) return vec4(a_load4((row * k + t) / 4u));
  vec4 v = vec4(0.0);
  [[unroll]] for (uint i = 0u; i < 4u; ++i)
    if (t + i < k) v[i] = float(a_load(row * k + t + i));
  return v;
}

// Four numbers, which lie in the low bits of `word`.
vec4 numbers4(uint word) {
  return vec4(float(word & MASK), float((word >> BITS) & MASK), float((word >> (2u * BITS)) & MASK),
              float((word >> (3u * BITS)) & MASK));
}

float scale_of(uint column, uint at) { return float(scales_load(column * blocks + at)); }
float zero_of(uint column, uint at) {
  if (HAS_ZEROS == 0u) return float(zero_point);
  uint bit = at * BITS;
  return float((uint(zeros_load(column * zero_bytes + bit / 8u)) >> (bit % 8u)) & MASK);
}
