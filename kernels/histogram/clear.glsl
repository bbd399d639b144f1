// Counters begin at 0, one a thread.

void main() {
  uint i = stoker_index();
  if (i < n) y_store(i, 0u);
}
