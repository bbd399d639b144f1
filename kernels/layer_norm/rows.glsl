// Rows of adjacent elements, `lanes` threads (a power of two) to each and 256 / lanes rows to a
// group. With `held` a thread keeps its up to 16 elements in registers and reads them once, else
// every row is read three times, mostly from the cache. `wide`: rows begin at multiples of four.
// The variance is that of the differences from the mean, never a difference of large squares.
shared float part[256];

uint lane, member;

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

// The row index of element j of a thread's four; narrow rows are walked in strides of `lanes` to
// keep neighbours adjacent.
uint place(uint k, uint j) {
  return wide != 0 ? (k * lanes + member) * 4 + j : (k * 4 + j) * lanes + member;
}

// Four elements of the row, those past its end as `filler`.
vec4 fetch(uint base, uint k, float filler) {
  if (wide != 0)
    return place(k, 0) < length ? x_load4((base + place(k, 0)) / 4) : vec4(filler);
  vec4 v = vec4(filler);
  for (uint j = 0; j < 4; ++j)
    if (place(k, j) < length) v[j] = x_load(base + place(k, j));
  return v;
}

void put(uint base, uint k, vec4 v) {
  if (wide != 0) {
    uint i = place(k, 0);
    if (i >= length) return;
    if (has_gamma != 0) v *= gamma_load4(i / 4);
    if (has_beta != 0) v += beta_load4(i / 4);
    y_store4((base + i) / 4, v);
    return;
  }
  for (uint j = 0; j < 4; ++j) {
    uint i = place(k, j);
    if (i >= length) return;
    if (has_gamma != 0) v[j] *= gamma_load(i);
    if (has_beta != 0) v[j] += beta_load(i);
    y_store(base + i, v[j]);
  }
}

float sum4(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

void main() {
  lane = gl_LocalInvocationID.x;
  member = lane % lanes;
  uint row = stoker_group() * (256 / lanes) + lane / lanes;
  bool live = row < rows;
  uint base = live ? row * length : 0;
  uint quads = live ? (length + 4 * lanes - 1) / (4 * lanes) : 0;  // for each thread

  if (held != 0) {
    vec4 v[4];
    float sum = 0;
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      v[k] = k < quads ? fetch(base, k, 0) : vec4(0);
      sum += sum4(v[k]);
    }
    float mean = team_sum(sum) / float(length);
    float squares = 0;
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      v[k] -= mean;
      if (wide != 0) {
        if (place(k, 0) < length) squares += dot(v[k], v[k]);
      } else {
        for (uint j = 0; j < 4; ++j)
          if (place(k, j) < length) squares += v[k][j] * v[k][j];
      }
    }
    float scale = 1 / sqrt(team_sum(squares) / float(length) + epsilon);
    [[unroll]] for (uint k = 0; k < 4; ++k)
      if (k < quads) put(base, k, v[k] * scale);
    return;
  }

  float sum = 0;
  for (uint k = 0; k < quads; ++k) sum += sum4(fetch(base, k, 0));
  float mean = team_sum(sum) / float(length);
  float squares = 0;
  for (uint k = 0; k < quads; ++k) {
    vec4 difference = fetch(base, k, mean) - mean;
    squares += dot(difference, difference);
  }
  float scale = 1 / sqrt(team_sum(squares) / float(length) + epsilon);
  for (uint k = 0; k < quads; ++k) put(base, k, (fetch(base, k, mean) - mean) * scale);
}
