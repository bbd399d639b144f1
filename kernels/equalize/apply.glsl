// Looks up four elements a thread.

void main() {
  uint quad = stoker_index();
  uint first = 4u * quad;
  if (first >= n) return;
  if (first + 4u <= n) {
    uvec4 values = x_load4(quad);
    for (uint k = 0u; k < 4u; ++k)
      values[k] = levels_load(256u * ((first + k) % channels) + values[k]);
    y_store4(quad, values);
  } else {
    for (uint i = first; i < n; ++i) y_store(i, levels_load(256u * (i % channels) + x_load(i)));
  }
}
