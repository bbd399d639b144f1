#include <bit>

#include "stoker/kernels/fill/options.hpp"
#include "stoker/kernels/fill/value.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::fill {
namespace {

// 16-byte stores a thread makes; must match fill.glsl.
constexpr std::size_t stores_per_thread = 4;

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  const auto given = options::from<Fill>(call.params);
  const std::vector<std::int64_t>& extents = given.shape.list();
  TensorSpec output;
  if (call.inputs.empty()) {
    STOKER_ASSIGN(output.shape, Shape::try_make(extents, "fill"));
  } else {
    if (!extents.empty())
      return Error{"fill",
                   ErrorCode::invalid_parameter,
                   "shape is given, and so is an input to take it from",
                   {{"parameter", "shape"}, {"input", call.inputs[0].to_string()}}};
    output = call.inputs[0];
  }
  output.dtype = given.dtype.value_or(output.dtype);
  STOKER_TRY(pattern(given, output.dtype));
  return std::vector{output};
}

std::shared_ptr<const Shader> fill_shader() {
  Shader shader;
  shader.name = "fill";
  shader.file = "fill/fill.glsl";
  // The same memory twice: as 16-byte pieces, and by element for what is left.
  shader.bindings = {{.name = "y", .type = "u32", .writes = true},
                     {.name = "tail", .type = "T", .writes = true}};
  shader.push = {{"pieces"}, {"low"}, {"high"}, {"tail_first"}, {"tail_count"}};
  shader.variants = rules::variants_of("T", {DType::u8, DType::u16, DType::u32});
  return std::make_shared<const Shader>(std::move(shader));
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Fill>();
  kernel.family = "memory";
  kernel.summary = "y[i] = value; the parameters give shape and dtype, or an input does";
  kernel.inputs = {0, 1};
  kernel.dtypes = rules::all_dtypes();
  kernel.infer = infer;

  const std::shared_ptr<const Shader> shader = fill_shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec> outputs,
                        const GpuTraits&) -> Result<GpuPlan> {
    STOKER_ASSIGN(const Pattern bytes, pattern(options::from<Fill>(call.params), outputs[0].dtype));
    const auto words = std::bit_cast<std::array<std::uint32_t, 2>>(bytes);

    // Elements of 8 bytes are written as two words, so no 64-bit integers are needed.
    const std::size_t element = size_of(outputs[0].dtype);
    const std::size_t unit = std::min<std::size_t>(element, 4);
    STOKER_TRY(rules::gpu_indexable("fill", outputs, element / unit));
    const std::size_t pieces = outputs[0].bytes() / 16;
    const std::size_t tail_first = pieces * 16 / unit;
    GpuPass pass;
    pass.shader = shader.get();
    pass.variant = unit == 1 ? "u8" : unit == 2 ? "u16" : "u32";
    pass.bindings = {output(), output()};
    pass.push.u32(pieces)
        .u32(words[0])
        .u32(words[1])
        .u32(tail_first)
        .u32(outputs[0].bytes() / unit - tail_first);
    const std::size_t threads = (pieces + stores_per_thread - 1) / stores_per_thread;
    pass.groups = linear_groups_for(std::max<std::size_t>(threads, 1), shader->local_size[0]);
    return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::fill
