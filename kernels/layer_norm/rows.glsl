// Rows of adjacent elements, by teams of threads.
//
// The variance is that of the differences from the mean, never a difference of large squares: what
// batches and threads find is merged by their counts, means and sums of squared differences (Chan,
// Golub, LeVeque: Updating Formulae and a Pairwise Algorithm for Computing Sample Variances).

#include "rows/larger.glsl"
#include "rows/team.glsl"

const uint unit = wide != 0 ? 4 : 1;  // adjacent elements that a thread takes

// How many elements of the batch are this thread's.
uint held(uint first) {
  uint begin = first + unit * member;
  uint apart = unit * lanes;
  return begin < length ? min((length - begin + apart - 1) / apart * unit, 4 * quads) : 0;
}

vec4 finish(uint at, vec4 v) {
  if (has_gamma != 0) v *= LOAD(gamma, 0, at);
  if (has_beta != 0) v += LOAD(beta, 0, at);
  return v;
}

void main() {
  uint row = join();
  uint base = min(row, rows - 1) * length;
  uint batch = 4 * quads * lanes;
  uint last = (length - 1) / batch * batch;

  vec4 v[quads];  // after a batch, the differences from its mean
  float count = 0, mean = 0, squares = 0, center = 0;
  for (uint first = 0; first <= last; first += batch) {
    float sum = 0;
    [[unroll]] for (uint k = 0; k < quads; ++k)
      v[k] = within(place(first, k), LOAD(x, base, place(first, k)), 0);
    [[unroll]] for (uint k = 0; k < quads; ++k) sum += sum4(v[k]);
    float n = float(held(first));
    center = n == 0 ? 0 : sum / n;
    float batch_squares = 0;
    [[unroll]] for (uint k = 0; k < quads; ++k) {
      v[k] = within(place(first, k), v[k] - center, 0);
      batch_squares += dot(v[k], v[k]);
    }
    float difference = center - mean;
    float share = n == 0 ? 0 : n / (count + n);
    mean += difference * share;
    squares += batch_squares + difference * difference * count * share;
    count += n;
  }
  float whole = team(mean * count, false) / float(length);
  mean -= whole;
  float variance = team(squares + mean * mean * count, false) / float(length);
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
