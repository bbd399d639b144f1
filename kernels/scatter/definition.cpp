#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/gather/gather.hpp"
#include "stoker/kernels/indexing/indices.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/scatter/options.hpp"
#include "stoker/kernels/scatter/scatter.hpp"

namespace stoker::kernels::scatter {
namespace {

Result<std::vector<TensorSpec>> infer(const std::string& op, const KernelCall& call) {
  const TensorSpec& target = call.inputs[0];
  const TensorSpec& updates = call.inputs[2];
  STOKER_TRY(indexing::check_indices(op, "indices", call.inputs[1]));
  if (updates.dtype != target.dtype) return rules::dtypes_differ(op, target, updates);
  const auto given = options::from<IndexedAdd>(call.params);  // its siblings have the same options
  STOKER_ASSIGN(const std::vector<std::size_t> axes,
                indexing::vector_axes(op, call, given.axes.list()));
  STOKER_ASSIGN(const Shape rows, indexing::rows_shape(op, target.shape, call.shape(1), axes));
  if (updates.shape != rows)
    return Error{op,
                 ErrorCode::shape_mismatch,
                 "the updates are " + updates.shape.to_string() + ", expected " + rows.to_string() +
                     ": the indices' shape without its last axis, then the "
                     "target's other axes",
                 {{"target", target.shape.to_string()},
                  {"indices", call.shape(1).to_string()},
                  {"updates", updates.shape.to_string()}}};
  if (!rows.empty()) STOKER_TRY(indexing::check_not_empty(op, target.shape, axes));
  return std::vector{target};
}

struct Shaders {
  std::shared_ptr<const Shader> copy;
  std::shared_ptr<const Shader> update;
};

/// What happens to an element for which there is an update.
enum class Update { add, multiply, larger, smaller, put };

bool is_extreme(Update update) { return update == Update::larger || update == Update::smaller; }

/// How updates of a dtype are read; sums and products of two integers are the same bits whatever their signs, and
/// extremes are compared as bits.
DType read_as(Update update, DType dtype) {
  if (is_float(dtype) && !is_extreme(update)) return dtype;
  return size_of(dtype) == 8 ? DType::u32 : indexing::bits_of(dtype);
}

std::string variant_of(Update update, DType dtype) {
  return size_of(dtype) == 8 ? "64" : std::string{to_string(read_as(update, dtype))};
}

/// What sums, products and extremes have in common.
Shader make_shader(std::string name, std::string file) {
  Shader shader;
  shader.name = std::move(name);
  shader.file = std::move(file);
  shader.bindings = {{.name = "indices", .type = "I"},
                     {.name = "updates", .type = "T"},
                     {.name = "y", .type = "u32", .writes = true}};
  shader.push = {{"n"}, {"extents", PushType::u32, 8}, {"strides", PushType::u32, 8}};
  shader.constants = {{"index_words", 1}, {"index_signed"}, {"coordinates", 1}, {"rest_axes"}};
  return shader;
}

std::shared_ptr<const Shader> make_combine(Update update) {
  const bool multiplies = update == Update::multiply;
  Shader shader =
      make_shader(multiplies ? "indexed_multiply" : "indexed_add", "scatter/combine.glsl");
  std::vector<ShaderVariant> variants;
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::u8, DType::u16, DType::u32, DType::u64}) {
    if (multiplies && size_of(dtype) == 8) continue;
    variants.push_back({.name = variant_of(update, dtype),
                        .types = {{"T", read_as(update, dtype)}},
                        .defines = {{"BITS", std::to_string(8 * size_of(dtype))},
                                    {"MULTIPLIES", multiplies ? "1" : "0"}}});
  }
  shader.variants = indexing::index_variants(variants);
  return std::make_shared<const Shader>(std::move(shader));
}

std::shared_ptr<const Shader> make_extreme() {
  Shader shader = make_shader("indexed_extreme", "scatter/extreme.glsl");
  shader.constants.push_back({"is_signed"});
  shader.constants.push_back({"infinite"});  // the bits of infinity; 0 for integers
  shader.constants.push_back({"smaller"});
  std::vector<ShaderVariant> variants;
  for (const DType dtype : {DType::u8, DType::u16, DType::u32})
    variants.push_back({.name = variant_of(Update::larger, dtype),
                        .types = {{"T", dtype}},
                        .defines = {{"BITS", std::to_string(8 * size_of(dtype))}}});
  shader.variants = indexing::index_variants(variants);
  return std::make_shared<const Shader>(std::move(shader));
}

/// IEEE 754: an exponent of ones and nothing below.
std::uint32_t bits_of_infinity(DType dtype) {
  switch (dtype) {
    case DType::f32: return 0x7f800000U;
    case DType::f16: return 0x7c00U;
    case DType::bf16: return 0x7f80U;
    default: return 0;
  }
}

/// Vulkan guarantees atomic operations on 32 bits only. Sums of 64-bit integers need no others.
Result<void> check_atomics(const std::string& op, Update update, DType dtype) {
  if (size_of(dtype) < 8 || (update == Update::add && is_integer(dtype))) return {};
  return Error{
      op,
      ErrorCode::unsupported,
      "Vulkan guarantees no 64-bit atomics to combine " + std::string{to_string(dtype)} +
          " with; use the cpu device",
      {{"feature", is_float(dtype) ? "shaderBufferFloat64AtomicAdd" : "shaderBufferInt64Atomics"}}};
}

/// The pass that combines, without bindings.
Result<GpuPass> combine_pass(const std::string& op, Update update, const Shader& shader,
                             const KernelCall& call, const indexing::Lookup& lookup) {
  const DType dtype = call.dtype();
  STOKER_TRY(check_atomics(op, update, dtype));
  STOKER_TRY(rules::gpu_indexable(op, std::vector{call.inputs[0], call.inputs[2]},
                                  size_of(dtype) == 8 ? 2 : 1));
  STOKER_TRY(indexing::check_countable(op, call.inputs[1]));
  const auto coordinates = static_cast<std::ptrdiff_t>(lookup.coordinates);
  const auto rest = static_cast<std::ptrdiff_t>(lookup.rest.rank);
  std::vector<std::int64_t> extents(lookup.extents.begin(), lookup.extents.begin() + coordinates);
  std::vector<std::int64_t> strides(lookup.strides.begin(), lookup.strides.begin() + coordinates);
  extents.insert(extents.end(), lookup.rest.extents.begin(), lookup.rest.extents.begin() + rest);
  strides.insert(strides.end(), lookup.rest.strides[0].begin(),
                 lookup.rest.strides[0].begin() + rest);
  const std::size_t n = call.inputs[2].elements();
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = indexing::variant_name(variant_of(update, dtype), call.dtype(1));
  pass.push.u32(n).u32s(extents, 8, 1).u32s(strides, 8);
  pass.constants = indexing::index_constants(call.dtype(1));
  pass.constants.push_back(static_cast<std::uint32_t>(lookup.coordinates));
  pass.constants.push_back(static_cast<std::uint32_t>(lookup.rest.rank));
  if (is_extreme(update)) {
    pass.constants.push_back(is_signed(dtype) || is_float(dtype) ? 1 : 0);
    pass.constants.push_back(bits_of_infinity(dtype));
    pass.constants.push_back(update == Update::smaller ? 1 : 0);
  }
  pass.groups = linear_groups_for(n, shader.local_size[0]);
  return pass;
}

/// The target first, then the updates upon it.
Result<GpuPlan> plan(const std::string& op, Update update, const Shaders& shaders,
                     const KernelCall& call) {
  STOKER_ASSIGN(GpuPlan plan, copy::gpu_plan(op, *shaders.copy, call.inputs[0]));
  if (call.inputs[2].elements() == 0) return plan;
  STOKER_ASSIGN(const indexing::Lookup lookup, rows_of(op, call));
  // Vectors without entries hold nothing that could be bound, nor is it read.
  const PassBinding indices = input(lookup.coordinates == 0 ? 0 : 1);
  if (update != Update::put) {
    STOKER_ASSIGN(GpuPass pass, combine_pass(op, update, *shaders.update, call, lookup));
    pass.bindings = {indices, input(2), output()};
    plan.passes.push_back(std::move(pass));
  } else {
    STOKER_ASSIGN(GpuPass pass, gather::rows_pass(op, *shaders.update,
                                                  {lookup, call.inputs[0], call.inputs[1],
                                                   call.inputs[2], true}));
    pass.bindings = {input(2), indices, output()};
    plan.passes.push_back(std::move(pass));
  }
  return plan;
}

}  // namespace

Result<indexing::Lookup> rows_of(std::string_view op, const KernelCall& call) {
  const auto given = options::from<IndexedAdd>(call.params);  // its siblings have the same options
  STOKER_ASSIGN(const std::vector<std::size_t> axes,
                indexing::vector_axes(op, call, given.axes.list()));
  return indexing::lookup_vectors(call.shape(0), call.shape(1), axes);
}

Result<void> define(KernelRegistry& registry) {
  const auto copy = copy::shader();
  const auto extreme = make_extreme();
  const auto add = [&](Update update, Kernel kernel, std::shared_ptr<const Shader> shader,
                       const std::string& what) -> Result<void> {
    const std::string name = kernel.name;
    const Shaders shaders{copy, std::move(shader)};
    kernel.family = "indexing";
    kernel.summary = "the target with updates[i…, rest…] " + what;
    kernel.inputs = {3, 3};
    kernel.dtypes = update == Update::put ? rules::all_dtypes() : rules::numeric_dtypes();
    kernel.infer = [name](const KernelCall& call) { return infer(name, call); };
    kernel.shaders = {shaders.copy, shaders.update};
    kernel.gpu = [name, update, shaders](const KernelCall& call, std::span<const TensorSpec>,
                                         const GpuTraits&) {
      return plan(name, update, shaders, call);
    };
    return registry.add(std::move(kernel));
  };
  const std::string where = "the coordinates indices[i…, :]";
  STOKER_TRY(add(Update::add, kernel_of<IndexedAdd>(), make_combine(Update::add),
                 "added at " + where + "; duplicates accumulate"));
  STOKER_TRY(add(Update::multiply, kernel_of<IndexedMultiply>(), make_combine(Update::multiply),
                 "multiplied into the elements at " + where + "; duplicates accumulate"));
  STOKER_TRY(add(Update::larger, kernel_of<IndexedMax>(), extreme,
                 "at " + where + " where they are larger; NaN spreads, and -0 is below 0"));
  STOKER_TRY(add(Update::smaller, kernel_of<IndexedMin>(), extreme,
                 "at " + where + " where they are smaller; NaN spreads, and -0 is below 0"));
  return add(Update::put, kernel_of<IndexedPut>(), gather::shader(),
             "written at " + where + "; of duplicates any one stays, on the CPU the last");
}

}  // namespace stoker::kernels::scatter
