#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/random_bits/layout.hpp"
#include "stoker/kernels/random_bits/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::random_bits {
namespace {

constexpr std::size_t blocks_per_thread = 4;  // must match random.glsl

constexpr std::string_view source =
    "Threefry-2x32, 20 rounds: Salmon, Moraes, Dror, Shaw, Parallel random numbers: as easy as 1, "
    "2, 3, SC11; counters as in Nx and JAX";

Error wrong_input(std::string op, std::string_view name, std::string expected,
                  const TensorSpec& got) {
  const bool dtype = got.dtype != DType::u32;
  return Error{std::move(op),
               dtype ? ErrorCode::dtype_mismatch : ErrorCode::shape_mismatch,
               std::string{name} + " is " + got.to_string() + ", expected " + expected,
               {{"input", std::string{name}}, {"expected", expected}, {"got", got.to_string()}}};
}

Result<std::vector<TensorSpec>> infer_bits(const KernelCall& call) {
  if (call.shape() != Shape{2}) return wrong_input("random_bits", "key", "u32[2]", call.inputs[0]);
  const auto given = options::from<RandomBits>(call.params);
  TensorSpec output;
  output.dtype = given.dtype;
  STOKER_ASSIGN(output.shape, Shape::try_make(given.shape.list(), "random_bits"));
  if (Layout::of(output).words > max_words)
    return Error{"random_bits",
                 ErrorCode::limit_exceeded,
                 "one key has 2^32 words; split it",
                 {{"output", output.to_string()}, {"limit", std::to_string(max_words)}}};
  return std::vector{output};
}

Result<std::vector<TensorSpec>> infer_raw(const KernelCall& call) {
  constexpr std::array names{"keys", "counters"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Shape& shape = call.shape(i);
    if (call.dtype(i) != DType::u32 || shape.rank() == 0 || shape[shape.rank() - 1] != 2)
      return wrong_input("threefry2x32", names[i], "u32[.., 2]", call.inputs[i]);
  }
  const Shape &keys = call.shape(0), &counters = call.shape(1);
  if (keys != counters && keys != Shape{2} && counters != Shape{2})
    return Error{"threefry2x32",
                 ErrorCode::shape_mismatch,
                 "expected equal shapes, or one of [2]",
                 {{"keys", keys.to_string()}, {"counters", counters.to_string()}}};
  return std::vector{call.inputs[keys == Shape{2} ? 1 : 0]};
}

std::shared_ptr<const Shader> bits_shader() {
  Shader shader;
  shader.name = "random_bits";
  shader.file = "random_bits/random.glsl";
  shader.bindings = {{.name = "key", .type = "u32"}, {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"words"}, {"blocks"}};
  shader.variants = rules::variants_of("T", {DType::u8, DType::u16, DType::u32});
  // As pairs of words, so no 64-bit integers are needed.
  shader.variants.push_back({.name = "u64", .types = {{"T", DType::u32}}});
  for (ShaderVariant& variant : shader.variants)
    variant.defines = {{"RAW", "0"}, {"PAIRS", variant.name == "u64" ? "1" : "0"}};
  return std::make_shared<const Shader>(std::move(shader));
}

std::shared_ptr<const Shader> raw_shader() {
  Shader shader;
  shader.name = "threefry2x32";
  shader.file = "random_bits/random.glsl";
  shader.bindings = {{.name = "key", .type = "u32"},
                     {.name = "counter", .type = "u32"},
                     {.name = "y", .type = "u32", .writes = true}};
  shader.push = {{"blocks"}, {"single_key"}, {"single_counter"}};
  shader.variants = {{.name = "u32", .types = {}, .defines = {{"RAW", "1"}}}};
  return std::make_shared<const Shader>(std::move(shader));
}

GpuPlan plan_of(const Shader& shader, std::string variant, std::uint64_t blocks,
                std::vector<PassBinding> bindings, PushValues push) {
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = std::move(variant);
  pass.bindings = std::move(bindings);
  pass.push = push;
  pass.groups =
      linear_groups_for((blocks + blocks_per_thread - 1) / blocks_per_thread, shader.local_size[0]);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

Kernel bits() {
  auto kernel = kernel_of<RandomBits>();
  kernel.family = "random";
  kernel.summary =
      "uniform random integers from a key u32[2], the same on every device; word i has the counter "
      "i; a u64 joins the words i (high) and n + i; a u8 or u16 is the low bits of one word";
  kernel.source = source;
  kernel.dtypes = {DType::u32};
  kernel.infer = infer_bits;
  const std::shared_ptr<const Shader> shader = bits_shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall&, std::span<const TensorSpec> outputs,
                        const GpuTraits&) -> Result<GpuPlan> {
    const Layout layout = Layout::of(outputs[0]);
    STOKER_TRY(
        rules::gpu_indexable("random_bits", outputs, outputs[0].dtype == DType::u64 ? 2 : 1));
    return plan_of(*shader, std::string{to_string(outputs[0].dtype)}, layout.blocks,
                   {input(0), output()}, PushValues{}.u32(layout.words).u32(layout.blocks));
  };
  return kernel;
}

Kernel raw() {
  auto kernel = kernel_of<Threefry2x32>();
  kernel.family = "random";
  kernel.summary =
      "the block function of random_bits: random words [.., 2] from keys [.., 2] and counters [.., "
      "2]; a single key or counter [2] is used for all";
  kernel.source = source;
  kernel.inputs = {2, 2};
  kernel.dtypes = {DType::u32};
  kernel.infer = infer_raw;
  const std::shared_ptr<const Shader> shader = raw_shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec> outputs,
                        const GpuTraits&) -> Result<GpuPlan> {
    STOKER_TRY(rules::gpu_indexable("threefry2x32", outputs));
    const Pairs pairs = Pairs::of(call, outputs[0]);
    return plan_of(*shader, "u32", pairs.blocks, {input(0), input(1), output()},
                   PushValues{}.u32(pairs.blocks).u32(pairs.single_key).u32(pairs.single_counter));
  };
  return kernel;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  STOKER_TRY(registry.add(bits()));
  return registry.add(raw());
}

}  // namespace stoker::kernels::random_bits
