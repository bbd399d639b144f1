// A group turns a tile of TILE x TILE elements in shared memory, so that both its reads and its
// writes run along rows. Columns are permuted within their row so that neither direction meets one
// bank again and again: a padded row would need more than the 16 KiB every device has.
const uint quads = TILE / 4;
const uint wide_steps = TILE * quads / 256;
const uint steps = TILE * TILE / 256;

shared T tile[TILE * TILE];

// Chosen for the reads: 16 quads of one column, or a column's single elements, in distinct banks.
uint slot(uint row, uint column) {
  return row * TILE + (column ^ (wide_out != 0 ? row / 4 * 2 : row));
}

#include "transpose/find_tile.glsl"

void main() {
  if (stoker_group() >= tiles) return;
  find_tile();
  uint lane = gl_LocalInvocationID.x;

  if (wide_in != 0) {
    T4 held[wide_steps];
    [[unroll]] for (uint k = 0; k < wide_steps; ++k) {
      uint row = top + (k * 256 + lane) / quads;
      uint column = left + (k * 256 + lane) % quads * 4;
      held[k] = row < rows && column < columns ? x_load4((from + row * row_stride + column) / 4)
                                               : T4(0);
    }
    [[unroll]] for (uint k = 0; k < wide_steps; ++k) {
      uint row = (k * 256 + lane) / quads;
      uint column = (k * 256 + lane) % quads * 4;
      [[unroll]] for (uint j = 0; j < 4; ++j) tile[slot(row, column + j)] = held[k][j];
    }
  } else {
    // Past the edges the last elements again: without branches the loads can wait together.
    T held[steps];
    uint column = min(left + lane % TILE, columns - 1);
    [[unroll]] for (uint k = 0; k < steps; ++k)
      held[k] = x_load(from + min(top + (k * 256 + lane) / TILE, rows - 1) * row_stride + column);
    [[unroll]] for (uint k = 0; k < steps; ++k)
      tile[slot((k * 256 + lane) / TILE, lane % TILE)] = held[k];
  }
  barrier();
  if (wide_out != 0) {
    [[unroll]] for (uint k = 0; k < wide_steps; ++k) {
      uint column = (k * 256 + lane) / quads;
      uint row = (k * 256 + lane) % quads * 4;
      if (left + column < columns && top + row < rows)
        y_store4((to + (left + column) * column_stride + top + row) / 4,
                 T4(tile[slot(row, column)], tile[slot(row + 1, column)],
                    tile[slot(row + 2, column)], tile[slot(row + 3, column)]));
    }
  } else {
    for (uint k = 0; k < steps; ++k) {
      uint column = (k * 256 + lane) / TILE;
      uint row = lane % TILE;
      if (left + column < columns && top + row < rows)
        y_store(to + (left + column) * column_stride + top + row, tile[slot(row, column)]);
    }
  }
}
