// Where index vectors point. The tensor's axes are `coordinates` that a vector chooses and `rest_axes` that are
// taken whole.

// What element `i` of the moved ones, with those axes innermost, adds to its place along the axes that are taken
// whole; leaves the rest of i.
uint place_in_rest(inout uint i) {
  uint at = 0;
  for (uint axis = coordinates + rest_axes; axis > coordinates; --axis) {
    uint rest = i / extents[axis - 1];
    at += (i - rest * extents[axis - 1]) * strides[axis - 1];
    i = rest;
  }
  return at;
}

// The place that index vector `item` chooses.
uint chosen_place(uint item) {
  uint at = 0;
  for (uint c = 0; c < coordinates; ++c)
    at += index_at(item * coordinates + c, extents[c] - 1) * strides[c];
  return at;
}
