// Several steps of a schedule at once, over tiles that stay in vector registers.
//
// A loop for each function writes its block to the first-level cache, where the next one reads it. Here
// eight vectors are in hand; a move loads them, stores them, or makes something else of them and of one
// operand, and a value that only the next step reads is never stored. A tile takes all moves before the
// next tile, at one jump a move. The compiler sees each move by itself, so nothing is contracted across
// two, and elements are what the loops give.
//
// Of floats, to which the registers of f16 and bf16 belong. Compiled once per instruction set.
#pragma once

#include <span>

#include "stoker/kernels/cpu/vector_bytes.hpp"
#include "stoker/kernels/fused/schedule.hpp"

namespace stoker::kernels::fused::STOKER_ISA {

inline constexpr std::size_t tile_vectors = 8;
/// What a tile is of.
inline constexpr std::size_t tile_elements =
    tile_vectors * kernels::cpu::STOKER_ISA::vector_bytes / sizeof(float);

enum class TileFunction : std::uint8_t {
  load,
  store,
  add,
  subtract,
  multiply,
  divide,
  max,
  min,
  negate,
  abs,
  sqrt
};
/// Where a function of two finds the one that is not in hand.
enum class TileOperand : std::uint8_t {
  second,      ///< an element for each
  second_one,  ///< one number for all
  first,
  first_one
};

struct TileMove {
  TileFunction function = TileFunction::load;
  TileOperand operand = TileOperand::second;  ///< of load: `second` or `second_one`
  Place place{};                              ///< of the operand, or of what is stored
};

/// A move of one block.
struct PlacedMove {
  TileFunction function;
  TileOperand operand;
  float* at;
};
/// Takes `moves` for tile after tile; what is not one number lies apart by a tile.
void run_tiles(std::span<const PlacedMove> moves, std::size_t tiles) noexcept;

/// Steps [first, first + count) of a schedule.
struct Piece {
  static constexpr std::size_t most_steps = 20;
  /// A step stores what is in hand, loads its operand and computes.
  static constexpr std::size_t most_moves = 3 * most_steps + 1;

  std::size_t first = 0;
  std::size_t count = 1;
  std::vector<TileMove> moves;  ///< what they are for a tile; none: they are taken one by one
};
/// The steps of a schedule, those that can be tiles together.
[[nodiscard]] std::vector<Piece> pieces_of(const Schedule& schedule);

}  // namespace stoker::kernels::fused::STOKER_ISA
