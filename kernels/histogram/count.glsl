// A group counts its elements in shared memory and then adds its counts to the result. Where there are
// more counters than shared memory holds, each element is added to the result at once.

const uint ELEMENTS = 16384u;
const uint COUNTERS = 4096u;  // what the smallest device Vulkan allows has room for

shared uint counts[COUNTERS];

void main() {
  uint group = stoker_group();
  if (group >= groups) return;
  uint counters = channels * bins;
  bool is_shared = counters <= COUNTERS;
  if (is_shared) {
    for (uint i = gl_LocalInvocationID.x; i < counters; i += gl_WorkGroupSize.x) counts[i] = 0u;
    barrier();
  }

  uint end = min(n, (group + 1u) * ELEMENTS);
  for (uint i = group * ELEMENTS + gl_LocalInvocationID.x; i < end; i += gl_WorkGroupSize.x) {
    float value = float(x_load(i));
    if (isnan(value) || value < low || value > high) continue;
    uint at = (i % channels) * bins + min(uint((value - low) * scale), bins - 1u);
    if (is_shared)
      atomicAdd(counts[at], 1u);
    else
      atomicAdd(y(at), 1u);
  }
  if (!is_shared) return;
  barrier();
  for (uint i = gl_LocalInvocationID.x; i < counters; i += gl_WorkGroupSize.x)
    if (counts[i] != 0u) atomicAdd(y(i), counts[i]);
}
