// One class a workgroup. Each step leaves out what the box of the step before overlaps and, in the same walk, finds the
// best of the rest. A thread alone reads and writes what is said of its boxes.

const uint LANES = 256u;
const uint NONE = 0xffffffffu;

shared float best_scores[LANES];
shared uint best_places[LANES];

// The corners [y1, x1, y2, x2] in order.
vec4 box_at(uint i) {
  vec4 b = vec4(boxes_load(4 * i), boxes_load(4 * i + 1), boxes_load(4 * i + 2), boxes_load(4 * i + 3));
  if (centers != 0) return vec4(b.y - b.w / 2.0, b.x - b.z / 2.0, b.y + b.w / 2.0, b.x + b.z / 2.0);
  return vec4(min(b.xy, b.zw), max(b.xy, b.zw));
}

float area(vec4 b) {
  precise float product = (b.z - b.x) * (b.w - b.y);
  return product;
}

bool overlaps(vec4 a, vec4 b) {
  vec2 sides = min(a.zw, b.zw) - max(a.xy, b.xy);
  if (!(sides.x > 0.0) || !(sides.y > 0.0)) return false;
  precise float both = sides.x * sides.y;
  precise float either = area(a) + area(b) - both;
  return either > 0.0 && both / either > overlap;
}

bool is_better(float score, uint place, float than, uint than_place) {
  if (place == NONE || than_place == NONE) return than_place == NONE;
  return score > than || (score == than && place < than_place);
}

void main() {
  uint list = stoker_group();
  if (list >= lists) return;
  uint lane = gl_LocalInvocationID.x;
  uint first_box = list / classes * n;
  uint first_score = list * n;
  uint found = 0;
  uint latest = NONE;
  vec4 better = vec4(0.0);
  for (;;) {
    float best = 0.0;
    uint place = NONE;
    for (uint i = lane; i < n; i += LANES) {
      float score = scores_load(first_score + i);
      bool is_gone;
      if (latest == NONE) {
        is_gone = isnan(score) || (bounded != 0 && !(score > least_score));
        gone(first_score + i) = is_gone ? 1u : 0u;
      } else {
        is_gone = gone(first_score + i) != 0u;
        if (!is_gone && (i == latest || overlaps(box_at(first_box + i), better))) {
          is_gone = true;
          gone(first_score + i) = 1u;
        }
      }
      if (!is_gone && is_better(score, i, best, place)) {
        best = score;
        place = i;
      }
    }
    best_scores[lane] = best;
    best_places[lane] = place;
    barrier();
    for (uint other = LANES / 2; other > 0; other /= 2) {
      if (lane < other && is_better(best_scores[lane + other], best_places[lane + other],
                                    best_scores[lane], best_places[lane])) {
        best_scores[lane] = best_scores[lane + other];
        best_places[lane] = best_places[lane + other];
      }
      barrier();
    }
    latest = best_places[0];
    barrier();
    if (latest == NONE) break;
    if (lane == 0) chosen_store(list * most + found, int(latest));
    ++found;
    if (found == most) break;
    better = box_at(first_box + latest);
  }
  for (uint i = found + lane; i < most; i += LANES) chosen_store(list * most + i, 0);
  if (lane == 0) counts_store(list, int(found));
}
