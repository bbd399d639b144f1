#include "stoker/kernels/conv/gpu.hpp"

#include <algorithm>

#include "stoker/kernels/conv/options.hpp"
#include "stoker/kernels/conv/patches.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/runtime/base/never_destroyed.hpp"

namespace stoker::kernels::conv {
namespace {

constexpr std::size_t most_axes = Problem::max_axes;
// Must match tiled.glsl.
constexpr std::int64_t side = 64, depth = 16;
// Terms of a sum that one group takes: lavapipe leaves a shader's loops after 65,535 rounds.
constexpr std::int64_t longest_sum = std::int64_t{1} << 19;

// Rounds of a thread beyond which it shares a sum with others, though outputs are too few to fill a tile.
constexpr std::uint64_t long_sum = 32768;

/// Of the thread of an output.
std::uint64_t direct_rounds(const Problem& p) {
  return static_cast<std::uint64_t>(p.taps() *
                                    (p.channels + static_cast<std::int64_t>(p.rank) + 3));
}

std::uint32_t word(std::int64_t value) { return static_cast<std::uint32_t>(value); }

std::shared_ptr<const Shader> direct_shader() {
  Shader shader;
  shader.name = "conv_direct";
  shader.file = "conv/direct.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "k", .type = "T"},
                     {.name = "bias", .type = "T"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},
                 {"groups"},
                 {"outputs"},
                 {"channels"},
                 {"k_first"},
                 {"outs", PushType::u32, 6},
                 {"ins", PushType::u32, 6},
                 {"lows", PushType::s32, 6},
                 {"x_image"},
                 {"x_group"},
                 {"x_channel"},
                 {"k_group"},
                 {"k_output"},
                 {"k_channel"},
                 {"y_image"},
                 {"y_group"},
                 {"y_output"},
                 {"x_steps", PushType::u32, 6},
                 {"k_steps", PushType::u32, 6},
                 {"y_steps", PushType::u32, 6}};
  // What a layer fixes; its images may have any size.
  shader.constants = {{"RANK"}, {"CHANNELS_LAST"}, {"HAS_BIAS"}, {"all_taps"}};
  for (const char* name : {"taps", "stride", "tap_step", "spread"})
    for (std::size_t axis = 0; axis < most_axes; ++axis)
      shader.constants.push_back({name + std::to_string(axis), 1});
  shader.variants = rules::variants_of("T", GpuShaders::dtypes());
  return std::make_shared<const Shader>(std::move(shader));
}

std::shared_ptr<const Shader> tiled_shader() {
  Shader shader;
  shader.name = "conv_tiled";
  shader.file = "conv/tiled.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "k", .type = "T"},
                     {.name = "y", .type = "Y", .writes = true}};
  shader.push = {{"m"},
                 {"n"},
                 {"terms"},
                 {"tiles_m"},
                 {"tiles_n"},
                 {"parts"},
                 {"part_k"},
                 {"in_h"},
                 {"in_w"},
                 {"out_h"},
                 {"out_w"},
                 {"low_h", PushType::s32},
                 {"low_w", PushType::s32},
                 {"x_image"},
                 {"x_channel"},
                 {"x_h"},
                 {"x_w"},
                 {"k_output"},
                 {"k_channel"},
                 {"k_h"},
                 {"k_w"},
                 {"k_first"},
                 {"y_image"},
                 {"y_output"},
                 {"y_h"},
                 {"y_w"}};
  shader.constants = {{"TAPS_H", 1},      {"TAPS_W", 1},    {"STRIDE_H", 1},
                      {"STRIDE_W", 1},    {"STEP_H", 1},    {"STEP_W", 1},
                      {"CHANNELS_FIRST"}, {"OUTPUTS_LAST"}, {"Y_OUTPUTS_LAST"}};
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const std::string name{to_string(dtype)};
    shader.variants.push_back({.name = name, .types = {{"T", dtype}, {"Y", dtype}}});
    shader.variants.push_back(
        {.name = name + "_parts", .types = {{"T", dtype}, {"Y", DType::f32}}});
  }
  return std::make_shared<const Shader>(std::move(shader));
}

std::shared_ptr<const Shader> sums_shader() {
  Shader shader;
  shader.name = "conv_sums";
  shader.file = "conv/sums.glsl";
  shader.bindings = {{.name = "x", .type = "f32"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"m"},       {"n"},        {"parts"}, {"out_h"}, {"out_w"},
                 {"y_image"}, {"y_output"}, {"y_h"},   {"y_w"}};
  shader.variants = rules::variants_of("T", {DType::f32, DType::f16, DType::bf16});
  return std::make_shared<const Shader>(std::move(shader));
}

GpuPass direct_pass(const GpuShaders& shaders, const Problem& p, DType dtype) {
  const std::int64_t n = p.images * p.groups * p.outputs * p.pixels();
  GpuPass pass;
  pass.shader = shaders.direct.get();
  pass.variant = to_string(dtype);
  pass.bindings = operands(p);
  pass.push.u32(n).u32(p.groups).u32(p.outputs).u32(p.channels).u32(p.k_first);
  const auto push_all = [&](std::int64_t Axis::*field) {
    for (const Axis& axis : p.axes) pass.push.u32(axis.*field);
  };
  push_all(&Axis::out);
  push_all(&Axis::in);
  push_all(&Axis::low);
  for (const std::int64_t step : {p.x_image, p.x_group, p.x_channel, p.k_group, p.k_output,
                                  p.k_channel, p.y_image, p.y_group, p.y_output})
    pass.push.u32(word(step));
  push_all(&Axis::x_step);
  push_all(&Axis::k_step);
  push_all(&Axis::y_step);
  pass.constants = {word(static_cast<std::int64_t>(p.rank)), p.y_output == 1 ? 1U : 0U,
                    p.bias ? 1U : 0U, word(p.taps())};
  for (std::int64_t Axis::*field : {&Axis::taps, &Axis::stride, &Axis::tap_step, &Axis::spread})
    for (const Axis& axis : p.axes) pass.constants.push_back(word(axis.*field));
  pass.groups = linear_groups_for(static_cast<std::uint64_t>(n), shaders.direct->local_size[0]);
  pass.rounds = direct_rounds(p);
  return pass;
}

/// Smaller ones would leave most of a tile empty.
bool fill_tiles(const Problem& p) { return p.outputs >= 16 || direct_rounds(p) > long_sum; }

bool fits_tiles(const Problem& p, DType dtype) {
  if (dtype == DType::f64 || dtype == DType::s32 || p.groups != 1 || p.bias || p.rank > 2)
    return false;
  for (const Axis& axis : p.axes)
    if (axis.spread != 1) return false;
  return p.channels * p.taps() >= depth;
}

GpuPlan tiled_plan(const GpuShaders& shaders, const Problem& p, DType dtype,
                   const GpuTraits& traits) {
  const Axis none;
  const Axis& h = p.rank == 2 ? p.axes[0] : none;
  const Axis& w = p.rank == 0 ? none : p.axes[p.rank - 1];
  const std::int64_t m = p.outputs, n = p.images * p.pixels(), k = p.channels * p.taps();
  const std::int64_t tiles_m = (m + side - 1) / side, tiles_n = (n + side - 1) / side;
  // A long sum of few outputs is shared by as many groups as the device keeps busy.
  const std::int64_t wanted = 4 * std::int64_t{traits.compute_units} / (tiles_m * tiles_n);
  const std::int64_t most = std::min(k / 256, (std::int64_t{64} << 20) / (4 * m * n));
  const std::int64_t least =
      std::min((k + longest_sum - 1) / longest_sum, std::max<std::int64_t>(most, 1));
  std::int64_t parts = std::clamp<std::int64_t>(wanted, least, std::max<std::int64_t>(most, 1));
  const std::int64_t part_k = ((k + parts - 1) / parts + depth - 1) / depth * depth;
  parts = (k + part_k - 1) / part_k;

  GpuPass pass;
  pass.shader = shaders.tiled.get();
  pass.variant = std::string{to_string(dtype)} + (parts > 1 ? "_parts" : "");
  pass.bindings = {input(0), input(1), parts > 1 ? scratch(0) : output()};
  pass.push.u32(m).u32(n).u32(k).u32(tiles_m).u32(tiles_n).u32(parts).u32(part_k);
  pass.push.u32(h.in).u32(w.in).u32(h.out).u32(w.out).s32(h.low).s32(w.low);
  pass.push.u32(p.x_image).u32(p.x_channel).u32(h.x_step).u32(w.x_step);
  pass.push.u32(p.k_output).u32(p.k_channel).u32(h.k_step).u32(w.k_step).u32(p.k_first);
  if (parts > 1)
    pass.push.u32(p.pixels()).u32(n).u32(w.out).u32(1);
  else
    pass.push.u32(p.y_image).u32(p.y_output).u32(h.y_step).u32(w.y_step);
  pass.constants = {word(h.taps),
                    word(w.taps),
                    word(h.stride),
                    word(w.stride),
                    word(h.tap_step),
                    word(w.tap_step),
                    p.x_channel == 1 ? 0U : 1U,
                    p.k_output == 1 ? 1U : 0U,
                    parts == 1 && p.y_output == 1 ? 1U : 0U};
  pass.groups = linear_groups(static_cast<std::uint64_t>(tiles_m * tiles_n * parts));
  pass.rounds = static_cast<std::uint64_t>(part_k / depth + 16);
  GpuPlan plan;
  plan.passes.push_back(std::move(pass));
  if (parts == 1) return plan;
  plan.scratch_bytes = {static_cast<std::size_t>(parts * m * n) * sizeof(float)};
  GpuPass sums;
  sums.shader = shaders.sums.get();
  sums.variant = to_string(dtype);
  sums.bindings = {scratch(0), output()};
  sums.push.u32(m).u32(n).u32(parts).u32(h.out).u32(w.out);
  sums.push.u32(p.y_image).u32(p.y_output).u32(h.y_step).u32(w.y_step);
  sums.groups = linear_groups_for(static_cast<std::uint64_t>(m * n), shaders.sums->local_size[0]);
  sums.rounds = static_cast<std::uint64_t>(parts);
  plan.passes.push_back(std::move(sums));
  return plan;
}

}  // namespace

const std::vector<DType>& GpuShaders::dtypes() {
  static constinit NeverDestroyed<std::vector<DType>> all;
  return all.get([] {
    std::vector<DType> dtypes = rules::float_dtypes();
    dtypes.push_back(DType::s32);
    return dtypes;
  });
}

const GpuShaders& GpuShaders::shared() {
  static constinit NeverDestroyed<GpuShaders> shaders;
  return shaders.get([] {
    return GpuShaders{direct_shader(), tiled_shader(), sums_shader(), patches_shaders(dtypes())};
  });
}

std::vector<std::shared_ptr<const Shader>> GpuShaders::all() const {
  std::vector<std::shared_ptr<const Shader>> all{direct, tiled, sums};
  all.insert(all.end(), patches.begin(), patches.end());
  return all;
}

std::vector<PassBinding> operands(const Problem& p) {
  return {input(0), input(1), input(p.bias ? 2 : 1), output()};
}

Result<GpuPlan> gpu_plan(const GpuShaders& shaders, const char* op, const Problem& p, DType dtype,
                         const GpuTraits& traits) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  for (const Axis& axis : p.axes)
    if (axis.out * axis.stride + axis.reach() + std::abs(axis.low) > most ||
        axis.in > most / axis.spread)
      return Error{op,
                   ErrorCode::limit_exceeded,
                   "a spatial axis is longer, padded and dilated, than a GPU kernel can count",
                   {{"limit", std::to_string(most)}}};
  if (fill_tiles(p)) {
    const bool tiles = fits_tiles(p, dtype);
    GpuPlan plan = tiles ? tiled_plan(shaders, p, dtype, traits) : GpuPlan{};
    // Larger tiles read less; parts keep more of a device busy.
    if (plan.passes.size() < 2 && !shaders.patches.empty() && suits_patches(p))
      plan.passes = {patches_pass(shaders.patches, p, dtype, traits)};
    if (!plan.passes.empty()) return plan;
  }
  return GpuPlan{.passes = {direct_pass(shaders, p, dtype)}, .scratch_bytes = {}};
}

Result<GpuPlan> gpu_plan(const GpuShaders& shaders, const KernelCall& call,
                         const TensorSpec& result, const GpuTraits& traits) {
  if (options::from<Conv>(call.params).kernel_blocked)
    return Error{"conv", ErrorCode::unsupported, "the GPU version takes kernels without blocks"};
  STOKER_TRY(rules::gpu_indexable("conv", call.inputs));
  STOKER_TRY(rules::gpu_indexable("conv", std::vector{result}));
  return gpu_plan(shaders, "conv", describe(call, result.shape), call.dtype(), traits);
}

}  // namespace stoker::kernels::conv
