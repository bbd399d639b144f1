// Rows along the innermost axis, `lanes` threads (a power of two) to each and 256 / lanes rows to a
// group. With `held` a thread keeps its up to 16 elements in registers and reads them once, else
// every row is read three times, mostly from the cache. `wide`: rows begin at multiples of four.
#define lowest uintBitsToFloat(0xff800000u)

shared float part[256];

uint lane, member;

// Comparisons rather than max: that may drop a NaN.
float larger(float a, float b) { return b > a || b != b ? b : a; }

float team_largest(float value) {
  part[lane] = value;
  for (uint half_team = lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) part[lane] = larger(part[lane], part[lane + half_team]);
  }
  barrier();
  float result = part[lane - member];
  barrier();
  return result;
}

float team_sum(float value) {
  part[lane] = value;
  for (uint half_team = lanes / 2; half_team > 0; half_team /= 2) {
    barrier();
    if (member < half_team) part[lane] += part[lane + half_team];
  }
  barrier();
  float result = part[lane - member];
  barrier();
  return result;
}

float largest4(vec4 v) { return larger(larger(v.x, v.y), larger(v.z, v.w)); }
float sum4(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

// Four elements of the row, those past its end as -infinity.
vec4 fetch(uint base, uint quad) {
  if (wide != 0) return quad * 4 < length ? x_load4(base / 4 + quad) : vec4(lowest);
  vec4 v = vec4(lowest);
  for (uint j = 0; j < 4; ++j) {
    uint i = j * lanes + quad % lanes + quad / lanes * 4 * lanes;
    if (i < length) v[j] = x_load(base + i);
  }
  return v;
}

// The counterpart of fetch(): narrow rows are walked in strides of `lanes` to keep neighbours
// adjacent.
void put(uint base, uint quad, vec4 v) {
  if (wide != 0) {
    if (quad * 4 < length) y_store4(base / 4 + quad, v);
    return;
  }
  for (uint j = 0; j < 4; ++j) {
    uint i = j * lanes + quad % lanes + quad / lanes * 4 * lanes;
    if (i < length) y_store(base + i, v[j]);
  }
}

void main() {
  lane = gl_LocalInvocationID.x;
  member = lane % lanes;
  uint row = stoker_group() * (256 / lanes) + lane / lanes;
  bool live = row < rows;
  uint base = live ? row * length : 0;
  uint quads = live ? (length + 4 * lanes - 1) / (4 * lanes) : 0;  // for each thread

  if (held != 0) {
    vec4 v[4];
    float m = lowest;
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      v[k] = k < quads ? fetch(base, k * lanes + member) : vec4(lowest);
      m = larger(m, largest4(v[k]));
    }
    m = team_largest(m);
    float sum = 0;
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      v[k] = exp(v[k] - m);
      sum += k < quads ? sum4(v[k]) : 0;
    }
    float scale = 1 / team_sum(sum);
    [[unroll]] for (uint k = 0; k < 4; ++k)
      if (k < quads) put(base, k * lanes + member, v[k] * scale);
    return;
  }

  float m = lowest;
  for (uint k = 0; k < quads; ++k) m = larger(m, largest4(fetch(base, k * lanes + member)));
  m = team_largest(m);
  float sum = 0;
  for (uint k = 0; k < quads; ++k) sum += sum4(exp(fetch(base, k * lanes + member) - m));
  float scale = 1 / team_sum(sum);
  for (uint k = 0; k < quads; ++k)
    put(base, k * lanes + member, exp(fetch(base, k * lanes + member) - m) * scale);
}
