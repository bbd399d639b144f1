// Each thread copies four 16-byte pieces, a group's width apart so that neighbours stay adjacent.
void main() {
  uint lane = gl_LocalInvocationID.x;
  uint first = stoker_group() * 4 * gl_WorkGroupSize.x + lane;
  if (first + 3 * gl_WorkGroupSize.x < pieces) {
    // All loads before the first store: the compiler may not move a load across one by itself.
    uvec4 held[4];
    for (uint k = 0; k < 4; ++k) held[k] = x_load4(first + k * gl_WorkGroupSize.x);
    for (uint k = 0; k < 4; ++k) y_store4(first + k * gl_WorkGroupSize.x, held[k]);
  } else {
    for (uint piece = first; piece < min(pieces, first + 4 * gl_WorkGroupSize.x);
         piece += gl_WorkGroupSize.x)
      y_store4(piece, x_load4(piece));
  }
  if (stoker_group() == 0 && lane < tail_count)
    y_tail_store(tail_first + lane, x_tail_load(tail_first + lane));
}
