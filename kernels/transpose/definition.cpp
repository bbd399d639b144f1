#include <algorithm>
#include <array>

#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/transpose/options.hpp"
#include "stoker/kernels/transpose/permutation.hpp"

namespace stoker::kernels::transpose {
namespace {

constexpr std::size_t max_batch_rank = 6;  // of 8 axes, two span the matrix

// Matrices narrower than this waste most of a tile; their elements are fetched one by one, with
// neighbours in reach of the cache.
constexpr std::int64_t least_tile_extent = 16;

struct Shaders {
  std::shared_ptr<const Shader> copy;
  std::shared_ptr<const Shader> gather;
  std::shared_ptr<const Shader> tile;
  std::shared_ptr<const Shader> packed;
};

// Elements are moved as bits, so only their size matters.
constexpr std::array sizes{DType::u8, DType::u16, DType::u32, DType::u64};

std::string variant_name(DType dtype) {
  return std::string{to_string(*std::ranges::find(sizes, size_of(dtype), &size_of))};
}

std::int64_t tile_extent(DType dtype) { return size_of(dtype) == 8 ? 32 : 64; }

Shaders make_shaders() {
  Shader gather;
  gather.name = "transpose_gather";
  gather.file = "transpose/gather.glsl";
  gather.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "T", .writes = true}};
  gather.push = {{"n"}, {"extents", PushType::u32, 8}, {"strides", PushType::u32, 8}};
  gather.constants = {{"rank"}, {"unit", 4}, {"one_row"}, {"adjacent"}};
  gather.variants = rules::variants_of("T", {sizes.begin(), sizes.end()});

  Shader tile;
  tile.name = "transpose_tile";
  tile.file = "transpose/tile.glsl";
  tile.bindings = gather.bindings;
  tile.push = {{"rows"},
               {"columns"},
               {"row_stride"},
               {"column_stride"},
               {"tiles_down"},
               {"tiles_across"},
               {"tiles"},
               {"batch_extents", PushType::u32, max_batch_rank},
               {"batch_in", PushType::u32, max_batch_rank},
               {"batch_out", PushType::u32, max_batch_rank}};
  tile.constants = {{"batch_rank"}, {"wide_in"}, {"wide_out"}};
  tile.variants = rules::variants_of("T", {sizes.begin(), sizes.end()});
  for (std::size_t i = 0; i < sizes.size(); ++i)
    tile.variants[i].defines = {{"TILE", std::to_string(tile_extent(sizes[i])) + "u"}};

  Shader packed = tile;
  packed.name = "transpose_packed";
  packed.file = "transpose/packed.glsl";
  packed.bindings = {{.name = "x", .type = "u32"}, {.name = "y", .type = "u32", .writes = true}};
  packed.constants = {{"batch_rank"}};
  packed.variants = {{.name = "u8", .types = {}, .defines = {{"PER", "4"}}},
                     {.name = "u16", .types = {}, .defines = {{"PER", "2"}}}};

  return {copy::shader(), std::make_shared<const Shader>(std::move(gather)),
          std::make_shared<const Shader>(std::move(tile)),
          std::make_shared<const Shader>(std::move(packed))};
}

GpuPass gather_pass(const Shader& shader, DType dtype, std::size_t n, const StridedWalk& walk) {
  const std::size_t unit = size_of(dtype) == 8 ? 1 : 4;
  GpuPass pass;
  pass.shader = &shader;
  pass.push.u32(n)
      .u32s({walk.extents.data(), walk.rank}, 8, 1)
      .u32s({walk.strides[0].data(), walk.rank}, 8);
  pass.groups = linear_groups_for((n + unit - 1) / unit, shader.local_size[0]);
  const bool one_row = walk.inner() % 4 == 0;
  const bool adjacent = one_row && walk.strides[0][walk.rank - 1] == 1;
  pass.constants = {static_cast<std::uint32_t>(walk.rank), static_cast<std::uint32_t>(unit),
                    one_row, adjacent};
  return pass;
}

/// Whether both directions of every matrix can be moved `unit` elements at a time.
struct Aligned {
  bool in;
  bool out;

  Aligned(const Matrices& m, std::int64_t unit) {
    const auto all = [&](std::int64_t extent, std::int64_t stride, const Strides& batch) {
      return extent % unit == 0 && stride % unit == 0 &&
             std::all_of(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(m.batch_rank),
                         [&](std::int64_t s) { return s % unit == 0; });
    };
    in = all(m.columns, m.row_stride, m.batch_in);
    out = all(m.rows, m.column_stride, m.batch_out);
  }
};

/// A group for each tile; `shader` is tile or packed.
GpuPass tiles_pass(const Shader& shader, std::int64_t tile, const Matrices& m) {
  const std::int64_t down = (m.rows + tile - 1) / tile;
  const std::int64_t across = (m.columns + tile - 1) / tile;
  const auto tiles = static_cast<std::uint64_t>(down * across * m.batches());
  GpuPass pass;
  pass.shader = &shader;
  for (const std::int64_t value : {m.rows, m.columns, m.row_stride, m.column_stride, down, across})
    pass.push.u32(static_cast<std::uint64_t>(value));
  pass.push.u32(tiles)
      .u32s({m.batch_extents.data(), m.batch_rank}, max_batch_rank, 1)
      .u32s({m.batch_in.data(), m.batch_rank}, max_batch_rank)
      .u32s({m.batch_out.data(), m.batch_rank}, max_batch_rank);
  pass.groups = linear_groups(tiles);
  pass.constants = {static_cast<std::uint32_t>(m.batch_rank)};
  return pass;
}

GpuPass matrices_pass(const Shaders& shaders, DType dtype, const Matrices& m) {
  // Elements narrower than a word are turned by whole words.
  const std::int64_t per_word = 4 / static_cast<std::int64_t>(size_of(dtype));
  if (per_word > 1)
    if (const Aligned words{m, per_word}; words.in && words.out)
      return tiles_pass(*shaders.packed, 32 * per_word, m);
  const Aligned quads{m, 4};
  GpuPass pass = tiles_pass(*shaders.tile, tile_extent(dtype), m);
  pass.constants.push_back(quads.in);
  // Four 8-byte elements are more than a thread stores at once.
  pass.constants.push_back(quads.out && size_of(dtype) < 8);
  return pass;
}

Result<GpuPlan> plan(const Shaders& shaders, const KernelCall& call) {
  STOKER_ASSIGN(const std::vector<std::size_t> axes, permutation(call));
  const StridedWalk walk = permuted_walk(call.shape(), axes);
  if (walk.dense(0)) return copy::gpu_plan("transpose", *shaders.copy, call.inputs[0]);
  STOKER_TRY(rules::gpu_indexable("transpose", call.inputs));
  const std::optional<Matrices> m = matrices(walk);
  const bool tiled = m && std::min(m->rows, m->columns) >= least_tile_extent;
  GpuPass pass = tiled
                     ? matrices_pass(shaders, call.dtype(), *m)
                     : gather_pass(*shaders.gather, call.dtype(), call.inputs[0].elements(), walk);
  pass.variant = variant_name(call.dtype());
  pass.bindings = {input(0), output()};
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Transpose>();
  kernel.family = "memory";
  kernel.summary = "axis i of y is axis axes[i] of x";
  kernel.dtypes = rules::all_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const std::vector<std::size_t> axes, permutation(call));
    std::vector<std::int64_t> extents;
    for (const std::size_t axis : axes) extents.push_back(call.shape()[axis]);
    STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, "transpose"));
    return std::vector{TensorSpec{call.dtype(), shape}};
  };
  const Shaders shaders = make_shaders();
  kernel.shaders = {shaders.copy, shaders.gather, shaders.tile, shaders.packed};
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return plan(shaders, call);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::transpose
