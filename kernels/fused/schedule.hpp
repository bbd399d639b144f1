// A fused program as the steps that the CPU takes for each block of elements.
//
// Values live in registers, blocks of one slice's memory that are used again once nobody needs what
// they hold, so that a block's work stays in the first-level cache. Dense inputs are read where they
// lie, and the last instruction of an output writes there, unless the element needs a conversion.
#pragma once

#include "stoker/kernels/fused/layout.hpp"

namespace stoker::kernels::fused {

/// What the planner in cpu.cpp is called with. Only Kernel::cpu of a fused kernel makes one.
struct FusedCall : KernelCall {
  const FusedProgram& program;
};
/// The name of that planner: no kernel can be called so.
inline constexpr std::string_view planner_name = "fused program";

/// Where a step finds or leaves a block's elements.
struct Place {
  std::uint32_t source = 0;  ///< 0: a register; then the buffers of the inputs, then the outputs
  std::uint32_t stride = 0;  ///< bytes from one output element to the next; 0 in registers
  std::int64_t offset = 0;   ///< bytes

  bool operator==(const Place&) const = default;
};

struct Step {
  enum class Kind : std::uint8_t {
    compute,   ///< `function`
    load,      ///< from storage to the compute type
    store,     ///< and back
    round,     ///< a register's floats to f16 or bf16
    gather,    ///< elements that lie apart
    position,  ///< the position of each element
    fill,      ///< one constant
    stream     ///< past the cache
  };
  Kind kind = Kind::compute;
  DType dtype = DType::f32;   ///< of what is read; of compute: that of the last operand
  DType result = DType::f32;  ///< of what is written
  const ScalarFunction* function = nullptr;
  std::array<Place, 3> from{};
  Place to{};
  std::size_t input = 0;   ///< gather, position: whose strides
  std::uint64_t bits = 0;  ///< fill: the value in the compute type
};

struct Schedule {
  std::size_t elements = 0;
  std::size_t block = 0;  ///< elements at a time
  std::size_t register_bytes = 0;
  std::size_t buffers = 0;  ///< inputs that have one
  bool streams = false;
  bool tiled = false;  ///< made by make_tile_schedule()
  double ns_per_element = 0;
  Layout layout;
  std::vector<std::int64_t> offsets;  ///< of the inputs, in elements
  std::vector<Step> before;           ///< once for each slice
  std::vector<Step> steps;            ///< for each block
};

/// The same program with what it computes in another order: where it can, an instruction follows the one
/// that it reads, whose value is then still in a vector register (tiles.hpp). To be called before anything
/// that depends on the order.
[[nodiscard]] FusedProgram in_chains(const FusedProgram& program);

/// `stream_from` is the size from which outputs are written past the cache.
[[nodiscard]] Schedule make_schedule(const FusedProgram& program, std::size_t stream_from);

/// For who takes a program's elements in parts of rows of `row`: blocks begin where they do in a tile
/// schedule, and outputs are written where they belong, through the cache.
[[nodiscard]] Schedule make_part_schedule(const FusedProgram& program, std::size_t row);

/// Of a program with one output, for who takes its values a block at a time: a block's values are left
/// at the front of output 0, as the compute type, which is a tile of the caller's. Elements come in
/// rows of `row`: a block is at most Schedule::block elements, and begins at one that is a multiple of
/// that into its row; rows that fit into a block are taken whole, one or several of them.
[[nodiscard]] Schedule make_tile_schedule(const FusedProgram& program, std::size_t row);

}  // namespace stoker::kernels::fused
