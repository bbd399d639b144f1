// A group turns a tile of 32 · PER rows by as many columns, whose elements come PER to a word: each
// thread turns blocks of PER x PER in registers, and shared memory moves whole words. Rows and
// columns are multiples of PER. The word's place in its row is permuted so that a column of words
// meets every bank.
const uint TILE = 32 * PER;

shared uint tile[TILE * 32];

void turn(inout uint words[PER]) {
#if PER == 2
  words = uint[2]((words[0] & 0xffffu) | words[1] << 16, words[0] >> 16 | (words[1] & 0xffff0000u));
#else
  uint even_top = (words[0] & 0x00ff00ffu) | (words[1] & 0x00ff00ffu) << 8;
  uint odd_top = (words[0] >> 8 & 0x00ff00ffu) | (words[1] & 0xff00ff00u);
  uint even_bottom = (words[2] & 0x00ff00ffu) | (words[3] & 0x00ff00ffu) << 8;
  uint odd_bottom = (words[2] >> 8 & 0x00ff00ffu) | (words[3] & 0xff00ff00u);
  words = uint[4]((even_top & 0xffffu) | even_bottom << 16, (odd_top & 0xffffu) | odd_bottom << 16,
                  even_top >> 16 | (even_bottom & 0xffff0000u),
                  odd_top >> 16 | (odd_bottom & 0xffff0000u));
#endif
}

#include "transpose/find_tile.glsl"

void main() {
  if (stoker_group() >= tiles) return;
  find_tile();
  uint lane = gl_LocalInvocationID.x;

  uint across = lane % 32;
  uint held[4][PER];
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    uint row = top + (k * 8 + lane / 32) * PER;
    uint column = left + across * PER;
    bool inside = row < rows && column < columns;
    [[unroll]] for (uint j = 0; j < PER; ++j)
      held[k][j] = inside ? x((from + (row + j) * row_stride + column) / PER) : 0;
  }
  [[unroll]] for (uint k = 0; k < 4; ++k) {
    turn(held[k]);
    [[unroll]] for (uint j = 0; j < PER; ++j)
      tile[(across * PER + j) * 32 + ((k * 8 + lane / 32) ^ across)] = held[k][j];
  }
  barrier();
  [[unroll]] for (uint k = 0; k < TILE / 8; ++k) {
    uint column = k * 8 + lane / 32;
    uint row = top + across * PER;
    if (left + column < columns && row < rows)
      y((to + (left + column) * column_stride + row) / PER) =
          tile[column * 32 + (across ^ (column / PER))];
  }
}
