#include "stoker/kernels/gather/gather.hpp"

#include "stoker/kernels/image/units.hpp"
#include "stoker/kernels/indexing/indices.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::gather {
namespace {

/// What one access of the shader moves.
struct Unit {
  DType dtype;
  bool wide = false;  ///< every row and stride is a multiple of four units
};

Unit unit_of(const RowsMove& move) {
  const std::size_t bytes = size_of(move.tensor.dtype);
  const auto row_bytes = static_cast<std::uint64_t>(move.lookup.row) * bytes;
  if (!move.lookup.dense() || (bytes == 8 && row_bytes % 16 != 0))
    return {indexing::bits_of(move.tensor.dtype)};
  // Rows begin at multiples of their length, so it alone decides. Elements of 8 bytes are two units
  // here: with a row of an even number of them four units are two whole elements.
  const image::Unit widest = image::widest_unit({row_bytes});
  return {widest.dtype, widest.quads};
}

}  // namespace

std::shared_ptr<const Shader> shader() {
  Shader shader;
  shader.name = "gather_rows";
  shader.file = "gather/rows.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "indices", .type = "I"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},
                 {"run_length"},
                 {"count"},
                 {"outer_stride"},
                 {"extents", PushType::u32, 8},
                 {"strides", PushType::u32, 8}};
  shader.constants = {
      {"index_words", 1}, {"index_signed"}, {"coordinates", 1}, {"rest_axes"}, {"unit", 4},
      {"wide"},           {"puts"}};
  shader.variants = indexing::index_variants(indexing::bits_variants());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPass> rows_pass(std::string_view op, const Shader& shader, const RowsMove& move) {
  const indexing::Lookup& lookup = move.lookup;
  const std::size_t bytes = size_of(move.tensor.dtype);
  const Unit unit = unit_of(move);
  const std::size_t unit_bytes = size_of(unit.dtype);
  const std::size_t split = bytes > unit_bytes ? bytes / unit_bytes : 1;
  STOKER_TRY(rules::gpu_indexable(op, std::vector{move.tensor, move.rows}, split));
  STOKER_TRY(indexing::check_countable(op, move.indices));
  const auto units = [&](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements) * bytes / unit_bytes;
  };

  std::vector<std::int64_t> extents(
      lookup.extents.begin(),
      lookup.extents.begin() + static_cast<std::ptrdiff_t>(lookup.coordinates));
  std::vector<std::int64_t> strides;
  for (std::size_t c = 0; c < lookup.coordinates; ++c)
    strides.push_back(static_cast<std::int64_t>(units(lookup.strides[c])));
  std::uint64_t run = units(lookup.row);
  std::size_t rest_axes = 0;
  if (!lookup.dense()) {
    const StridedWalk& rest = lookup.rest;
    const bool adjacent = rest.strides[0][rest.rank - 1] == 1;
    run = adjacent ? static_cast<std::uint64_t>(rest.inner()) : 1;
    rest_axes = adjacent ? rest.rank - 1 : rest.rank;
    for (std::size_t axis = 0; axis < rest_axes; ++axis) {
      extents.push_back(rest.extents[axis]);
      strides.push_back(rest.strides[0][axis]);
    }
  }
  // Four 8-byte elements are more than a thread moves at once.
  const std::uint32_t per_thread = unit_bytes == 8 ? 1 : 4;
  const std::uint64_t n = units(static_cast<std::int64_t>(move.rows.elements()));

  GpuPass pass;
  pass.shader = &shader;
  pass.variant = indexing::variant_name(to_string(unit.dtype), move.indices.dtype);
  pass.push.u32(n).u32(run).u32(static_cast<std::uint64_t>(lookup.count));
  pass.push.u32(units(lookup.outer_stride)).u32s(extents, 8, 1).u32s(strides, 8);
  pass.groups = linear_groups_for((n + per_thread - 1) / per_thread, shader.local_size[0]);
  pass.constants = indexing::index_constants(move.indices.dtype);
  for (const std::size_t value :
       {lookup.coordinates, rest_axes, std::size_t{per_thread}, std::size_t{unit.wide}})
    pass.constants.push_back(static_cast<std::uint32_t>(value));
  pass.constants.push_back(move.puts);
  return pass;
}

}  // namespace stoker::kernels::gather
