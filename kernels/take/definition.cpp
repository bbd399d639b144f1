#include "stoker/kernels/gather/gather.hpp"
#include "stoker/kernels/indexing/indices.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/take/axis.hpp"

namespace stoker::kernels::take {
namespace {

Result<std::vector<TensorSpec>> infer_take(const KernelCall& call) {
  const Shape& x = call.shape(0);
  STOKER_TRY(indexing::check_indices("take", "indices", call.inputs[1]));
  STOKER_ASSIGN(const std::size_t axis, axis_of<Take>(call));
  std::vector<std::int64_t> extents(x.begin(), x.begin() + axis);
  extents.insert(extents.end(), call.shape(1).begin(), call.shape(1).end());
  extents.insert(extents.end(), x.begin() + axis + 1, x.end());
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, "take"));
  if (!shape.empty()) STOKER_TRY(indexing::check_not_empty("take", x, {axis}));
  return std::vector{TensorSpec{call.dtype(), shape}};
}

Result<std::vector<TensorSpec>> infer_along(const KernelCall& call) {
  const Shape& x = call.shape(0);
  const Shape& indices = call.shape(1);
  STOKER_TRY(indexing::check_indices("take_along_axis", "indices", call.inputs[1]));
  STOKER_ASSIGN(const std::size_t axis, axis_of<TakeAlongAxis>(call));
  if (indices.rank() != x.rank() || indices.with(axis, x[axis]) != x)
    return Error{"take_along_axis",
                 ErrorCode::shape_mismatch,
                 "the indices differ from the input beside the axis",
                 {{"input", x.to_string()},
                  {"indices", indices.to_string()},
                  {"axis", std::to_string(axis)}}};
  if (!indices.empty()) STOKER_TRY(indexing::check_not_empty("take_along_axis", x, {axis}));
  return std::vector{TensorSpec{call.dtype(), indices}};
}

Result<GpuPlan> plan_take(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  STOKER_ASSIGN(const std::size_t axis, axis_of<Take>(call));
  const indexing::Lookup lookup = indexing::lookup_along(call.shape(0), call.shape(1), axis);
  STOKER_ASSIGN(
      GpuPass pass,
      gather::rows_pass("take", shader, {lookup, call.inputs[0], call.inputs[1], result, false}));
  pass.bindings = {input(0), input(1), output()};
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

std::shared_ptr<const Shader> make_along() {
  Shader shader;
  shader.name = "take_along_axis";
  shader.file = "take/along.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "indices", .type = "I"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"}, {"block"}, {"inner"}, {"extent"}};
  shader.constants = {{"index_words", 1}, {"index_signed"}, {"unit", 4}};
  shader.variants = indexing::index_variants(indexing::bits_variants());
  return std::make_shared<const Shader>(std::move(shader));
}

Result<GpuPlan> plan_along(const Shader& shader, const KernelCall& call) {
  const Shape& x = call.shape(0);
  const Shape& indices = call.shape(1);
  STOKER_TRY(rules::gpu_indexable("take_along_axis", call.inputs));
  STOKER_TRY(indexing::check_countable("take_along_axis", call.inputs[1]));
  STOKER_ASSIGN(const std::size_t axis, axis_of<TakeAlongAxis>(call));
  const auto inner = static_cast<std::uint64_t>(x.strides()[axis]);
  const std::uint64_t n = call.inputs[1].elements();
  // Four 8-byte elements are more than a thread stores at once.
  const std::uint32_t unit = size_of(call.dtype()) == 8 ? 1 : 4;
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = indexing::variant_name(to_string(indexing::bits_of(call.dtype())), call.dtype(1));
  pass.bindings = {input(0), input(1), output()};
  pass.push.u32(n).u32(static_cast<std::uint64_t>(indices[axis]) * inner).u32(inner);
  pass.push.u32(static_cast<std::uint64_t>(x[axis]));
  pass.groups = linear_groups_for((n + unit - 1) / unit, shader.local_size[0]);
  pass.constants = indexing::index_constants(call.dtype(1));
  pass.constants.push_back(unit);
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

template <class K> Kernel base() {
  auto kernel = kernel_of<K>();
  kernel.family = "indexing";
  kernel.inputs = {2, 2};
  kernel.dtypes = rules::all_dtypes();
  return kernel;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto take = base<Take>();
  take.summary = "y[a…, i…, b…] = x[a…, indices[i…], b…]; indices are clamped to the axis";
  take.infer = infer_take;
  const std::shared_ptr<const Shader> rows = gather::shader();
  take.shaders = {rows};
  take.gpu = [rows](const KernelCall& call, std::span<const TensorSpec> outputs, const GpuTraits&) {
    return plan_take(*rows, call, outputs[0]);
  };
  STOKER_TRY(registry.add(std::move(take)));

  auto along = base<TakeAlongAxis>();
  along.summary = "y[a…, k, b…] = x[a…, indices[a…, k, b…], b…]; indices are clamped to the axis";
  along.infer = infer_along;
  const std::shared_ptr<const Shader> shader = make_along();
  along.shaders = {shader};
  along.gpu = [shader](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return plan_along(*shader, call);
  };
  return registry.add(std::move(along));
}

}  // namespace stoker::kernels::take
