// y[outer][piece][column] = the position along the axis of the extreme among a piece of `count`
// candidates: all positions, or (`chosen`) those that candidates[outer][…][column] names. A team of
// `lanes` threads, a power of two, shares a piece. NaN comes before everything, the first one first;
// of equal elements the first counts, or the last (`last`). `wide`: rows begin at multiples of four.
shared T values[256];
shared uint positions[256];

T best;
uint best_at;

void meet(T v, uint at) {
#if T_IS_FLOAT
  bool nan = isnan(v);
  bool best_nan = isnan(best);
  if (nan || best_nan) {
    if (nan && (!best_nan || at < best_at)) {
      best = v;
      best_at = at;
    }
    return;
  }
#endif
  bool better = smallest != 0 ? v < best : v > best;
  if (better || (v == best && (last != 0 ? at > best_at : at < best_at))) {
    best = v;
    best_at = at;
  }
}

void main() {
  uint lane = gl_LocalInvocationID.x;
  uint member = lane % lanes;
  uint item = stoker_group() * (256 / lanes) + lane / lanes;
  if (item < items) {
    uint column = item % inner;
    uint first = item / inner % pieces * piece;
    uint end = min(first + piece, count);
    uint outer = item / inner / pieces;
    uint base = outer * length * inner + column;
    uint list = outer * count * inner + column;
    // Every member begins with the piece's first candidate: meeting it twice changes nothing.
    best_at = chosen != 0 ? uint(candidates_load(list + first * inner)) : first;
    best = x_load(base + best_at * inner);
    if (wide != 0) {
      for (uint quad = first / 4 + member; quad < end / 4; quad += lanes) {
        T4 v = x_load4(base / 4 + quad);
        meet(v.x, 4 * quad);
        meet(v.y, 4 * quad + 1);
        meet(v.z, 4 * quad + 2);
        meet(v.w, 4 * quad + 3);
      }
    } else {
      for (uint i = first + member; i < end; i += lanes) {
        uint at = chosen != 0 ? uint(candidates_load(list + i * inner)) : i;
        meet(x_load(base + at * inner), at);
      }
    }
  }
  if (lanes > 1) {
    values[lane] = best;
    positions[lane] = best_at;
    for (uint half_team = lanes / 2; half_team > 0; half_team /= 2) {
      barrier();
      if (member < half_team) {
        meet(values[lane + half_team], positions[lane + half_team]);
        values[lane] = best;
        positions[lane] = best_at;
      }
    }
  }
  if (member == 0 && item < items) y_store(item, int(best_at));
}
