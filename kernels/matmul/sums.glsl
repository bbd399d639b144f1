// Adds up the parts of a product that the other shaders left as [part, element].
void main() {
  uint at = stoker_index();
  if (at >= elements) return;
  P sum = P(0);
  for (uint part = 0u; part < parts; ++part) sum += x_load(part * elements + at);
  y_store(at, sum);
}
