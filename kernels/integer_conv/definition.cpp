#include <cstdlib>

#include "stoker/kernels/integer_conv/options.hpp"
#include "stoker/kernels/integer_conv/problem.hpp"
#include "stoker/kernels/integer_matmul/tile.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/single_output.hpp"

namespace stoker::kernels::integer_conv {
namespace {

using integer_matmul::tile_depth;
using integer_matmul::tile_side;

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "integer_conv";
  shader.file = "integer_conv/tiled.glsl";
  shader.bindings = {{.name = "x", .type = "X"},
                     {.name = "k", .type = "K"},
                     {.name = "x_zero", .type = "X"},
                     {.name = "k_zero", .type = "K"},
                     {.name = "y", .type = "s32", .writes = true}};
  shader.push = {{"m"},
                 {"n"},
                 {"terms"},
                 {"tiles_m"},
                 {"tiles_n"},
                 {"groups"},
                 {"channels"},
                 {"x_zeros"},
                 {"k_zeros"},
                 {"x_image"},
                 {"x_channel"},
                 {"x_steps", PushType::u32, 3},
                 {"ins", PushType::u32, 3},
                 {"outs", PushType::u32, 3},
                 {"lows", PushType::s32, 3},
                 {"taps", PushType::u32, 3},
                 {"strides", PushType::u32, 3},
                 {"tap_steps", PushType::u32, 3}};
  integer_matmul::add_mixtures(shader, "X", "K");
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> gpu(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  if (options::from<IntegerConv>(call.params).kernel_blocked)
    return Error{"integer_conv", ErrorCode::unsupported,
                 "the GPU version takes kernels without blocks"};
  STOKER_TRY(rules::gpu_indexable("integer_conv", call.inputs));
  STOKER_TRY(rules::gpu_indexable("integer_conv", {&result, 1}));
  const Problem problem = describe(call, result.shape);
  const conv::Problem& p = problem.conv;
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  for (std::size_t i = 0; i < p.rank; ++i)
    if (p.axes[i].out * p.axes[i].stride + p.axes[i].reach() + std::abs(p.axes[i].low) > most)
      return Error{"integer_conv",
                   ErrorCode::limit_exceeded,
                   "a spatial axis is longer, padded and dilated, than a GPU kernel can count",
                   {{"limit", std::to_string(most)}}};
  const std::int64_t m = p.outputs, n = p.images * p.pixels();
  const std::int64_t tiles_m = (m + tile_side - 1) / tile_side,
                     tiles_n = (n + tile_side - 1) / tile_side;
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = integer_matmul::mixture(problem.x.is_signed, problem.k.is_signed);
  pass.bindings = {input(0), input(1), input(problem.x.zeros != 0 ? 2 : 0),
                   input(problem.k.zeros != 0 ? 3 : 1), output()};
  pass.push.u32(m).u32(n).u32(problem.terms()).u32(tiles_m).u32(tiles_n);
  pass.push.u32(p.groups).u32(p.channels).u32(problem.x.zeros).u32(problem.k.zeros);
  pass.push.u32(p.x_image).u32(p.x_channel);
  for (std::int64_t conv::Axis::*field :
       {&conv::Axis::x_step, &conv::Axis::in, &conv::Axis::out, &conv::Axis::low, &conv::Axis::taps,
        &conv::Axis::stride, &conv::Axis::tap_step})
    for (std::size_t i = 0; i < 3; ++i) pass.push.s32(problem.axis(i).*field);
  pass.groups = linear_groups(static_cast<std::uint64_t>(tiles_m * tiles_n * p.groups));
  pass.rounds = static_cast<std::uint64_t>(problem.terms() / tile_depth + 64);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<IntegerConv>();
  kernel.family = "linear algebra";
  kernel.summary =
      "y[n, o, i...] = sum over c, t... of (x[n, c, i * stride + t * dilation - low] - x_zero) * "
      "(k[o, c, t...] - k_zero) in s32, of 8-bit integers and their zero points, with which x is "
      "padded: one for all, those of k also one for each output, or none; one to three spatial "
      "axes";
  kernel.source = "ONNX operator ConvInteger";
  kernel.inputs = {2, 4};
  kernel.dtypes = {DType::s8, DType::u8};
  rules::use_rule(kernel, &infer);
  rules::use_shader(kernel, make_shader(), &gpu);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::integer_conv
