// Each thread stores four 16-byte pieces, a group's width apart so that neighbours stay adjacent.
// `high` differs from `low` for 8-byte elements only, of which the tail holds one at most.
void main() {
  uint lane = gl_LocalInvocationID.x;
  uint first = stoker_group() * 4 * gl_WorkGroupSize.x + lane;
  for (uint k = 0; k < 4; ++k) {
    uint piece = first + k * gl_WorkGroupSize.x;
    if (piece < pieces) y_store4(piece, uvec4(low, high, low, high));
  }
  if (stoker_group() == 0 && lane < tail_count)
    tail_store(tail_first + lane, (lane & 1) == 0 ? low : high);
}
