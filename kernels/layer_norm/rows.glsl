// Rows of adjacent elements: `lanes` threads (a power of two) to each, and as many rows to a group
// as it has threads for. A thread takes a row in batches of `quads` groups of four elements, whose
// loads are all under way before the first is used. The last batch stays in registers, so a row of
// one batch is read once and a longer one, for the most part, twice. `wide`: rows begin at multiples
// of four.
//
// The variance is that of the differences from the mean, never a difference of large squares: what
// batches and threads find is merged by their counts, means and sums of squared differences (Chan,
// Golub, LeVeque: Updating Formulae and a Pairwise Algorithm for Computing Sample Variances).
#if SUBGROUPS
const uint reach = lanes < subgroup ? lanes : subgroup;
#else
const uint reach = 1;
#endif
const uint unit = wide != 0 ? 4 : 1;        // adjacent elements that a thread takes
const uint stride = wide != 0 ? 1 : lanes;  // between four; narrow rows keep neighbours adjacent

shared float part[gl_WorkGroupSize.x];

uint lane, member;

// Over the threads of a row: by shuffles as far as a subgroup reaches, then eight spans at a time
// through shared memory.
float team_sum(float value) {
#if SUBGROUPS
  [[unroll]] for (uint apart = 1; apart < reach; apart *= 2)
    value += subgroupShuffleXor(value, apart);
#endif
  [[unroll]] for (uint span = reach; span < lanes; span *= 8) {
    barrier();
    if (lane % span == 0) part[lane / span] = value;
    barrier();
    uint spans = min(lanes / span, 8);
    uint first = lane / span / spans * spans;
    value = part[first];
    [[unroll]] for (uint i = 1; i < spans; ++i) value += part[first + i];
  }
  return value;
}

float sum4(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

// The first element of a thread's quad, in its row.
uint place(uint first, uint k) {
  return first + (wide != 0 ? 4 * (k * lanes + member) : 4 * k * lanes + member);
}

// How many elements of the batch are this thread's.
uint held(uint first) {
  uint begin = first + unit * member;
  uint apart = unit * lanes;
  return begin < length ? min((length - begin + apart - 1) / apart * unit, 4 * quads) : 0;
}

// Of four elements those within the row, the others as 0.
vec4 within(uint at, vec4 v) {
  [[unroll]] for (uint j = 0; j < 4; ++j)
    if (at + j * stride >= length) v[j] = 0;
  return v;
}

// Past the end of the row, its last elements again: without branches the loads of several quads can
// wait for memory together.
#define LOAD(name, base, at)                                                     \
  (wide != 0 ? name##_load4(((base) + min(at, length - 4)) / 4)                  \
             : vec4(name##_load((base) + min(at, length - 1)),                   \
                    name##_load((base) + min((at) + stride, length - 1)),        \
                    name##_load((base) + min((at) + 2 * stride, length - 1)),    \
                    name##_load((base) + min((at) + 3 * stride, length - 1))))

vec4 finish(uint at, vec4 v) {
  if (has_gamma != 0) v *= LOAD(gamma, 0, at);
  if (has_beta != 0) v += LOAD(beta, 0, at);
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

  vec4 v[quads];  // after a batch, the differences from its mean
  float count = 0, mean = 0, squares = 0, center = 0;
  for (uint first = 0; first <= last; first += batch) {
    float sum = 0;
    [[unroll]] for (uint k = 0; k < quads; ++k)
      v[k] = within(place(first, k), LOAD(x, base, place(first, k)));
    [[unroll]] for (uint k = 0; k < quads; ++k) sum += sum4(v[k]);
    float n = float(held(first));
    center = n == 0 ? 0 : sum / n;
    float batch_squares = 0;
    [[unroll]] for (uint k = 0; k < quads; ++k) {
      v[k] = within(place(first, k), v[k] - center);
      batch_squares += dot(v[k], v[k]);
    }
    float difference = center - mean;
    float share = n == 0 ? 0 : n / (count + n);
    mean += difference * share;
    squares += batch_squares + difference * difference * count * share;
    count += n;
  }
  float whole = team_sum(mean * count) / float(length);
  mean -= whole;
  float variance = team_sum(squares + mean * mean * count) / float(length);
  float scale = 1 / sqrt(variance + epsilon);
  if (row >= rows) return;

  // All of gamma and beta before the first store: loads do not move across one by themselves.
  [[unroll]] for (uint k = 0; k < quads; ++k)
    v[k] = finish(place(last, k), (v[k] + (center - whole)) * scale);
  [[unroll]] for (uint k = 0; k < quads; ++k) put(base, place(last, k), v[k]);
  for (uint first = 0; first < last; first += batch) {
    [[unroll]] for (uint k = 0; k < quads; ++k)
      v[k] = LOAD(x, base, place(first, k));
    [[unroll]] for (uint k = 0; k < quads; ++k)
      v[k] = finish(place(first, k), (v[k] - whole) * scale);
    [[unroll]] for (uint k = 0; k < quads; ++k) put(base, place(first, k), v[k]);
  }
}
