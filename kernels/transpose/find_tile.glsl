// A group turns one tile of TILE × TILE elements of one matrix.
uint left, top;  // its first column and row
uint from, to;   // where its matrix begins in x and in y

void find_tile() {
  uint rest = stoker_group();
  left = rest % tiles_across * TILE;
  rest /= tiles_across;
  top = rest % tiles_down * TILE;
  rest /= tiles_down;
  from = 0;
  to = 0;
  for (uint axis = batch_rank; axis-- > 0;) {
    uint coordinate = rest % batch_extents[axis];
    rest /= batch_extents[axis];
    from += coordinate * batch_in[axis];
    to += coordinate * batch_out[axis];
  }
}
