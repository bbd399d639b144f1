// One step of a merge across blocks: orders all pairs of a row that lie `span` / 2 apart, or mirrored
// within `span`. v holds the elements, p their positions in the input. A place past the row's end
// counts as largest, so its pair is in order already.

#include "sort/before.glsl"

void main() {
  uint pair = stoker_index();
  if (pair >= pairs) return;
  uint row = pair / pairs_per_row;
  uint k = pair % pairs_per_row;
  uint offset = k % (span / 2);
  uint start = k / (span / 2) * span;
  uint i = start + offset;
  uint j = start + (mirrored != 0 ? span - 1 - offset : span / 2 + offset);
  if (j >= length) return;
  i += row * length;
  j += row * length;
  T a = v_load(i), b = v_load(j);
  uint at_a = p_load(i), at_b = p_load(j);
  if (before(a, at_a, b, at_b)) return;
  v_store(i, b);
  v_store(j, a);
  p_store(i, at_b);
  p_store(j, at_a);
}
