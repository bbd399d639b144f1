#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/dynamic_slice/box.hpp"
#include "stoker/kernels/dynamic_slice/options.hpp"
#include "stoker/kernels/indexing/indices.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::dynamic_slice {
namespace {

Error entries_differ(const char* parameter, std::size_t entries, const Shape& x) {
  return Error{"dynamic_slice",
               ErrorCode::invalid_parameter,
               std::string{parameter} + ": " + std::to_string(entries) + " entries for rank " +
                   std::to_string(x.rank()),
               {{"parameter", parameter}, {"input", x.to_string()}}};
}

Result<std::vector<TensorSpec>> infer_slice(const KernelCall& call) {
  const Shape& x = call.shape(0);
  STOKER_TRY(check_starts("dynamic_slice", x, call.inputs[1]));
  const auto given = options::from<DynamicSlice>(call.params);
  const std::vector<std::int64_t>& lengths = given.lengths.list();
  const std::vector<std::int64_t> steps = steps_of(given, x.rank());
  if (lengths.size() != x.rank()) return entries_differ("lengths", lengths.size(), x);
  if (steps.size() != x.rank()) return entries_differ("strides", steps.size(), x);
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (lengths[axis] > x[axis])
      return Error{"dynamic_slice",
                   ErrorCode::invalid_parameter,
                   "lengths: " + std::to_string(lengths[axis]) + " entries of axis " +
                       std::to_string(axis) + ", which has " + std::to_string(x[axis]),
                   {{"parameter", "lengths"}, {"input", x.to_string()}}};
    extents.push_back((lengths[axis] - 1) / steps[axis] + 1);
  }
  STOKER_ASSIGN(const Shape shape, Shape::try_make(extents, "dynamic_slice"));
  return std::vector{TensorSpec{call.dtype(), shape}};
}

Result<std::vector<TensorSpec>> infer_put(const KernelCall& call) {
  const TensorSpec& x = call.inputs[0];
  const TensorSpec& slice = call.inputs[1];
  if (x.dtype != slice.dtype) return rules::dtypes_differ("put_slice", x, slice);
  STOKER_TRY(check_starts("put_slice", x.shape, call.inputs[2]));
  bool fits = x.shape.rank() == slice.shape.rank();
  for (std::size_t axis = 0; fits && axis < x.shape.rank(); ++axis)
    fits = slice.shape[axis] <= x.shape[axis];
  if (!fits)
    return Error{"put_slice",
                 ErrorCode::shape_mismatch,
                 "the slice does not fit into the input",
                 {{"input", x.shape.to_string()}, {"slice", slice.shape.to_string()}}};
  return std::vector{x};
}

std::shared_ptr<const Shader> make_shader() {
  Shader shader;
  shader.name = "dynamic_slice_box";
  shader.file = "dynamic_slice/box.glsl";
  shader.bindings = {{.name = "x", .type = "T"},
                     {.name = "starts", .type = "I"},
                     {.name = "y", .type = "T", .writes = true}};
  shader.push = {{"n"},
                 {"start_of"},  // four bits for each axis
                 {"extents", PushType::u32, 8},
                 {"lengths", PushType::u32, 8},
                 {"scales", PushType::u32, 8}};
  // Steps are no push fields: the usual 1 costs no division, and four lists would not fit.
  shader.constants = {{"index_words", 1}, {"index_signed"}, {"rank", 1},
                      {"unit", 4},        {"wide"},         {"puts"}};
  for (std::size_t axis = 0; axis < Shape::max_rank; ++axis)
    shader.constants.push_back({"step" + std::to_string(axis), 1});
  shader.variants = indexing::index_variants(indexing::bits_variants());
  return std::make_shared<const Shader>(std::move(shader));
}

/// Whether four adjacent elements on the dense side are four whole ones of the tensor's.
bool by_fours(const BoxAxis& inner) noexcept {
  const bool starts_so = inner.scale % 4 == 0 || inner.length == inner.extent;
  return inner.step == 1 && inner.extent % 4 == 0 && inner.length % 4 == 0 && starts_so;
}

/// The pass, without bindings. Precondition: the starts have an entry.
GpuPass box_pass(const Shader& shader, DType dtype, DType starts, std::size_t n,
                 const std::vector<BoxAxis>& axes, bool puts) {
  const bool narrow = size_of(dtype) < 8;
  // Four 8-byte elements are more than a thread moves at once.
  const std::uint32_t unit = narrow ? 4 : 1;
  GpuPass pass;
  pass.shader = &shader;
  pass.variant = indexing::variant_name(to_string(indexing::bits_of(dtype)), starts);
  std::uint64_t start_of = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) start_of |= axes[axis].start << 4 * axis;
  pass.push.u32(n).u32(start_of);
  for (const auto field : {&BoxAxis::extent, &BoxAxis::length, &BoxAxis::scale}) {
    std::vector<std::int64_t> values;
    for (const BoxAxis& axis : axes) values.push_back(axis.*field);
    pass.push.u32s(values, 8, 1);
  }
  pass.constants = indexing::index_constants(starts);
  for (const std::uint32_t value :
       {static_cast<std::uint32_t>(axes.size()), unit,
        std::uint32_t{narrow && by_fours(axes.back())}, std::uint32_t{puts}})
    pass.constants.push_back(value);
  for (std::size_t axis = 0; axis < Shape::max_rank; ++axis)
    pass.constants.push_back(axis < axes.size() ? static_cast<std::uint32_t>(axes[axis].step) : 1);
  pass.groups = linear_groups_for((n + unit - 1) / unit, shader.local_size[0]);
  return pass;
}

Result<GpuPlan> plan_slice(const Shader& shader, const Shader& copy, const KernelCall& call,
                           const TensorSpec& result) {
  if (result == call.inputs[0]) return copy::gpu_plan("dynamic_slice", copy, result);
  STOKER_TRY(rules::gpu_indexable("dynamic_slice", call.inputs));
  const auto given = options::from<DynamicSlice>(call.params);
  const auto axes =
      box_axes(call.shape(), given.lengths.list(), steps_of(given, call.shape().rank()));
  GpuPass pass = box_pass(shader, call.dtype(), call.dtype(1), result.elements(), axes, false);
  pass.bindings = {input(0), input(1), output()};
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

Result<GpuPlan> plan_put(const Shader& shader, const Shader& copy, const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable("put_slice", call.inputs));
  STOKER_ASSIGN(GpuPlan plan, copy::gpu_plan("put_slice", copy, call.inputs[0]));
  const TensorSpec& slice = call.inputs[1];
  if (slice.elements() == 0) return plan;
  if (slice == call.inputs[0]) {
    for (PassBinding& binding : plan.passes[0].bindings)
      if (binding.source == PassBinding::Source::input) binding.index = 1;
    return plan;
  }
  const std::vector<std::int64_t> steps(slice.shape.rank(), 1);
  const auto axes = box_axes(call.shape(), slice.shape.extents(), steps);
  GpuPass pass = box_pass(shader, call.dtype(), call.dtype(2), slice.elements(), axes, true);
  pass.bindings = {input(1), input(2), output()};
  plan.passes.push_back(std::move(pass));
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  const std::shared_ptr<const Shader> shader = make_shader();
  const std::shared_ptr<const Shader> copy = copy::shader();

  auto slice = kernel_of<DynamicSlice>();
  slice.family = "indexing";
  slice.summary = "y[i…] = x[starts + strides·i…]; starts are clamped so that the lengths fit";
  slice.inputs = {2, 2};
  slice.dtypes = rules::all_dtypes();
  slice.infer = infer_slice;
  slice.shaders = {shader, copy};
  slice.gpu = [shader, copy](const KernelCall& call, std::span<const TensorSpec> outputs,
                             const GpuTraits&) {
    return plan_slice(*shader, *copy, call, outputs[0]);
  };
  STOKER_TRY(registry.add(std::move(slice)));

  auto put = kernel_of<PutSlice>();
  put.family = "indexing";
  put.summary =
      "x with slice written over it, beginning at starts; starts are clamped so that the slice "
      "fits";
  put.inputs = {3, 3};
  put.dtypes = rules::all_dtypes();
  put.infer = infer_put;
  put.shaders = {shader, copy};
  put.gpu = [shader, copy](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return plan_put(*shader, *copy, call);
  };
  return registry.add(std::move(put));
}

}  // namespace stoker::kernels::dynamic_slice
