// Sorts blocks of `width` ≤ 1024 elements, a power of two, in shared memory: of the input (`begins`),
// where short rows lie side by side, or the last steps of a merge of longer rows that v and p hold.
// With `ends` the elements go to y and their positions to z, the first `keep` of each row; else to v
// and p. A position of 0xffffffff marks places past a row's end; they stay last.
shared T element[1024];
shared uint position[1024];

#include "sort/before.glsl"

void order(uint i, uint j) {
  uint at_i = position[i], at_j = position[j];
  if (at_j == 0xffffffffu || before(element[i], at_i, element[j], at_j)) return;
  T held = element[i];
  element[i] = element[j];
  element[j] = held;
  position[i] = at_j;
  position[j] = at_i;
}

// Orders all pairs `span` / 2 apart, or mirrored within `span`.
void pass(uint span, bool mirrored) {
  barrier();
  for (uint pair = gl_LocalInvocationID.x; pair < 512; pair += gl_WorkGroupSize.x) {
    uint offset = pair % (span / 2);
    uint start = pair / (span / 2) * span;
    order(start + offset, start + (mirrored ? span - 1 - offset : span / 2 + offset));
  }
}

void main() {
  for (uint slot = gl_LocalInvocationID.x; slot < 1024; slot += gl_WorkGroupSize.x) {
    uint part = stoker_group() * (1024 / width) + slot / width;
    uint row = part / blocks;
    uint i = part % blocks * width + slot % width;
    position[slot] = 0xffffffffu;
    if (row >= rows || i >= length) continue;
    if (begins != 0) {
      element[slot] = x_load((row / inner * length + i) * inner + row % inner);
      position[slot] = i;
    } else {
      element[slot] = v_load(row * length + i);
      position[slot] = p_load(row * length + i);
    }
  }
  if (begins != 0) {
    for (uint span = 2; span <= width; span *= 2) {
      pass(span, true);
      for (uint half_span = span / 2; half_span > 1; half_span /= 2) pass(half_span, false);
    }
  } else {
    for (uint span = width; span > 1; span /= 2) pass(span, false);
  }
  barrier();
  for (uint slot = gl_LocalInvocationID.x; slot < 1024; slot += gl_WorkGroupSize.x) {
    uint part = stoker_group() * (1024 / width) + slot / width;
    uint row = part / blocks;
    uint i = part % blocks * width + slot % width;
    if (row >= rows || i >= length) continue;
    if (ends == 0) {
      v_store(row * length + i, element[slot]);
      p_store(row * length + i, position[slot]);
    } else if (i < keep) {
      uint at = (row / inner * keep + i) * inner + row % inner;
      if (values != 0) y_store(at, element[slot]);
      if (indices != 0) z_store(at, int(position[slot]));
    }
  }
}
