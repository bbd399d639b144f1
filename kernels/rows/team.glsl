// Rows of adjacent elements: `lanes` threads (a power of two) to each, and as many rows to a group as it has
// threads for. A thread takes a row in batches of `quads` groups of four elements, whose loads are all under way
// before the first is used. The last batch stays in registers, so a row of one batch is read once and a longer
// one, for the most part, twice. `wide`: rows begin at multiples of four.
#if SUBGROUPS
const uint reach = lanes < subgroup ? lanes : subgroup;
#else
const uint reach = 1;
#endif
const uint stride = wide != 0 ? 1 : lanes;  // between the four; narrow rows keep neighbours adjacent

shared float part[gl_WorkGroupSize.x];

uint lane, member;

// Finds the thread's place; returns its row, which may lie past the last one.
uint join() {
#if SUBGROUPS
  lane = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
#else
  lane = gl_LocalInvocationID.x;
#endif
  member = lane % lanes;
  return stoker_group() * (gl_WorkGroupSize.x / lanes) + lane / lanes;
}

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

// Of four elements those within the row, the others as `outside`.
vec4 within(uint at, vec4 v, float outside) {
  [[unroll]] for (uint j = 0; j < 4; ++j)
    if (at + j * stride >= length) v[j] = outside;
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

void put(uint base, uint at, vec4 v) {
  if (wide != 0) {
    if (at < length) y_store4((base + at) / 4, v);
    return;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j)
    if (at + j * stride < length) y_store(base + at + j * stride, v[j]);
}
