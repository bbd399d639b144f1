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
  const auto given = options::from<IndexedAdd>(call.params);  // indexed_put has the same options
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
  std::shared_ptr<const Shader> put;
  std::shared_ptr<const Shader> add;
};

/// How updates of a dtype are read; the sums of two integers are the same bits whatever their signs.
DType added_as(DType dtype) {
  if (is_float(dtype)) return dtype;
  return size_of(dtype) == 8 ? DType::u32 : indexing::bits_of(dtype);
}

std::string add_variant(DType dtype) {
  return size_of(dtype) == 8 ? "64" : std::string{to_string(added_as(dtype))};
}

std::shared_ptr<const Shader> make_add() {
  Shader shader;
  shader.name = "indexed_add";
  shader.file = "scatter/add.glsl";
  shader.bindings = {{.name = "indices", .type = "I"},
                     {.name = "updates", .type = "T"},
                     {.name = "y", .type = "u32", .writes = true}};
  shader.push = {{"n"}, {"extents", PushType::u32, 8}, {"strides", PushType::u32, 8}};
  shader.constants = {{"index_words", 1}, {"index_signed"}, {"coordinates", 1}, {"rest_axes"}};
  std::vector<ShaderVariant> variants;
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::u8, DType::u16, DType::u32, DType::u64})
    variants.push_back({.name = add_variant(dtype),
                        .types = {{"T", added_as(dtype)}},
                        .defines = {{"BITS", std::to_string(8 * size_of(dtype))}}});
  shader.variants = indexing::index_variants(variants);
  return std::make_shared<const Shader>(std::move(shader));
}

/// The pass that adds, without bindings.
Result<GpuPass> add_pass(const Shader& shader, const KernelCall& call,
                         const indexing::Lookup& lookup) {
  const DType dtype = call.dtype();
  if (dtype == DType::f64)
    return Error{"indexed_add",
                 ErrorCode::unsupported,
                 "Vulkan guarantees no 64-bit atomics to add f64 with; use the cpu device",
                 {{"feature", "shaderBufferFloat64AtomicAdd"}}};
  STOKER_TRY(rules::gpu_indexable("indexed_add", std::vector{call.inputs[0], call.inputs[2]},
                                  size_of(dtype) == 8 ? 2 : 1));
  STOKER_TRY(indexing::check_countable("indexed_add", call.inputs[1]));
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
  pass.variant = indexing::variant_name(add_variant(dtype), call.dtype(1));
  pass.push.u32(n).u32s(extents, 8, 1).u32s(strides, 8);
  pass.constants = indexing::index_constants(call.dtype(1));
  pass.constants.push_back(static_cast<std::uint32_t>(lookup.coordinates));
  pass.constants.push_back(static_cast<std::uint32_t>(lookup.rest.rank));
  pass.groups = linear_groups_for(n, shader.local_size[0]);
  return pass;
}

/// The target first, then the updates upon it.
Result<GpuPlan> plan(const std::string& op, bool adds, const Shaders& shaders,
                     const KernelCall& call) {
  STOKER_ASSIGN(GpuPlan plan, copy::gpu_plan(op, *shaders.copy, call.inputs[0]));
  if (call.inputs[2].elements() == 0) return plan;
  STOKER_ASSIGN(const indexing::Lookup lookup, rows_of(op, call));
  // Vectors without entries hold nothing that could be bound, nor is it read.
  const PassBinding indices = input(lookup.coordinates == 0 ? 0 : 1);
  if (adds) {
    STOKER_ASSIGN(GpuPass pass, add_pass(*shaders.add, call, lookup));
    pass.bindings = {indices, input(2), output()};
    plan.passes.push_back(std::move(pass));
  } else {
    STOKER_ASSIGN(GpuPass pass, gather::rows_pass(op, *shaders.put,
                                                  {lookup, call.inputs[0], call.inputs[1],
                                                   call.inputs[2], true}));
    pass.bindings = {input(2), indices, output()};
    plan.passes.push_back(std::move(pass));
  }
  return plan;
}

}  // namespace

Result<indexing::Lookup> rows_of(std::string_view op, const KernelCall& call) {
  const auto given = options::from<IndexedAdd>(call.params);  // indexed_put has the same options
  STOKER_ASSIGN(const std::vector<std::size_t> axes,
                indexing::vector_axes(op, call, given.axes.list()));
  return indexing::lookup_vectors(call.shape(0), call.shape(1), axes);
}

Result<void> define(KernelRegistry& registry) {
  const Shaders shaders{copy::shader(), gather::shader(), make_add()};
  for (const bool adds : {true, false}) {
    auto kernel = adds ? kernel_of<IndexedAdd>() : kernel_of<IndexedPut>();
    const std::string name = kernel.name;
    kernel.family = "indexing";
    kernel.summary = adds ? "the target with updates[i…, rest…] added at the coordinates "
                            "indices[i…, :]; duplicates accumulate"
                          : "the target with updates[i…, rest…] written at the coordinates "
                            "indices[i…, :]; of duplicates any one stays, on the CPU the last";
    kernel.inputs = {3, 3};
    kernel.dtypes = adds ? rules::numeric_dtypes() : rules::all_dtypes();
    kernel.infer = [name](const KernelCall& call) { return infer(name, call); };
    kernel.shaders = {shaders.copy, adds ? shaders.add : shaders.put};
    kernel.gpu = [name, adds, shaders](const KernelCall& call, std::span<const TensorSpec>,
                                       const GpuTraits&) {
      return plan(name, adds, shaders, call);
    };
    STOKER_TRY(registry.add(std::move(kernel)));
  }
  return {};
}

}  // namespace stoker::kernels::scatter
