// Rows along the innermost axis: `lanes` threads (a power of two) to each, and as many rows to a
// group as it has threads for. A thread takes a row in batches of `quads` groups of four elements,
// whose loads are all under way before the first is used. The last batch stays in registers, so a
// row of one batch is read once and a longer one, for the most part, twice. `wide`: rows begin at
// multiples of four.
#define lowest uintBitsToFloat(0xff800000u)

#if SUBGROUPS
const uint reach = lanes < subgroup ? lanes : subgroup;
#else
const uint reach = 1;
#endif
const uint stride = wide != 0 ? 1 : lanes;  // between the four; narrow rows keep neighbours adjacent

shared float part[gl_WorkGroupSize.x];

uint lane, member;

// Comparisons rather than max: that may drop a NaN.
float larger(float a, float b) { return b > a || isnan(b) ? b : a; }
float larger4(float a, vec4 v) { return larger(larger(larger(v.x, v.y), larger(v.z, v.w)), a); }
float sum4(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

float combine(float a, float b, bool largest) { return largest ? larger(a, b) : a + b; }

// The largest or the sum over the threads of a row: by shuffles as far as a subgroup reaches, then
// eight spans at a time through shared memory.
float team(float value, bool largest) {
#if SUBGROUPS
  [[unroll]] for (uint apart = 1; apart < reach; apart *= 2)
    value = combine(value, subgroupShuffleXor(value, apart), largest);
#endif
  [[unroll]] for (uint span = reach; span < lanes; span *= 8) {
    barrier();
    if (lane % span == 0) part[lane / span] = value;
    barrier();
    uint spans = min(lanes / span, 8);
    uint first = lane / span / spans * spans;
    value = part[first];
    [[unroll]] for (uint i = 1; i < spans; ++i) value = combine(value, part[first + i], largest);
  }
  return value;
}

// The first element of a thread's quad, in its row.
uint place(uint first, uint k) {
  return first + (wide != 0 ? 4 * (k * lanes + member) : 4 * k * lanes + member);
}

// Four elements of the row, those past its end as -infinity. What is loaded there is the last one
// again: without branches the loads of several quads can wait for memory together.
vec4 fetch(uint base, uint at) {
  vec4 v;
  if (wide != 0) {
    v = x_load4((base + min(at, length - 4)) / 4);
  } else {
    [[unroll]] for (uint j = 0; j < 4; ++j) v[j] = x_load(base + min(at + j * stride, length - 1));
  }
  [[unroll]] for (uint j = 0; j < 4; ++j)
    if (at + j * stride >= length) v[j] = lowest;
  return v;
}

void put(uint base, uint at, vec4 v) {
  if (wide != 0) {
    if (at < length) y_store4((base + at) / 4, v);
    return;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j)
    if (at + j * stride < length) y_store(base + at + j * stride, v[j]);
}

void main() {
#if SUBGROUPS
  lane = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
#else
  lane = gl_LocalInvocationID.x;
#endif
  member = lane % lanes;
  uint row = stoker_group() * (gl_WorkGroupSize.x / lanes) + lane / lanes;
  uint base = min(row, rows - 1) * length;
  uint batch = 4 * quads * lanes;
  uint last = (length - 1) / batch * batch;

  // Each thread's own largest element and sum; the sum is rescaled when the largest changes.
  vec4 v[quads];
  float m = lowest, sum = 0;
  for (uint first = 0; first <= last; first += batch) {
    [[unroll]] for (uint k = 0; k < quads; ++k) v[k] = fetch(base, place(first, k));
    float before = m;
    [[unroll]] for (uint k = 0; k < quads; ++k) m = larger4(m, v[k]);
    // -infinity adds nothing, wherever it stands; subtracted from itself it would be NaN.
    float center = m == lowest ? 0 : m;
    sum *= exp(before - center);
    [[unroll]] for (uint k = 0; k < quads; ++k) {
      v[k] = exp(v[k] - center);
      sum += sum4(v[k]);
    }
  }
  float whole = team(m, true);
  float own = exp(m - whole);
  float scale = 1 / team(sum * own, false);
  if (row >= rows) return;

  [[unroll]] for (uint k = 0; k < quads; ++k) put(base, place(last, k), v[k] * (own * scale));
  for (uint first = 0; first < last; first += batch) {
    [[unroll]] for (uint k = 0; k < quads; ++k) v[k] = fetch(base, place(first, k));
    [[unroll]] for (uint k = 0; k < quads; ++k)
      put(base, place(first, k), exp(v[k] - whole) * scale);
  }
}
