#include "stoker/kernels/gather/gather.hpp"
#include "stoker/kernels/gather/options.hpp"
#include "stoker/kernels/indexing/indices.hpp"
#include "stoker/kernels/rules.hpp"
#include "stoker/kernels/single_output.hpp"

namespace stoker::kernels::gather {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_TRY(indexing::check_indices("gather", "indices", call.inputs[1]));
  STOKER_ASSIGN(
      const std::vector<std::size_t> axes,
      indexing::vector_axes("gather", call, options::from<Gather>(call.params).axes.list()));
  STOKER_ASSIGN(const Shape shape,
                indexing::rows_shape("gather", call.shape(0), call.shape(1), axes));
  if (!shape.empty()) STOKER_TRY(indexing::check_not_empty("gather", call.shape(0), axes));
  return std::vector{TensorSpec{call.dtype(), shape}};
}

Result<GpuPlan> plan(const Shader& shader, const KernelCall& call, const TensorSpec& result) {
  STOKER_ASSIGN(
      const std::vector<std::size_t> axes,
      indexing::vector_axes("gather", call, options::from<Gather>(call.params).axes.list()));
  const indexing::Lookup lookup = indexing::lookup_vectors(call.shape(0), call.shape(1), axes);
  STOKER_ASSIGN(GpuPass pass, rows_pass("gather", shader,
                                        {lookup, call.inputs[0], call.inputs[1], result, false}));
  // Vectors without entries hold nothing that could be bound, nor is it read.
  pass.bindings = {input(0), input(axes.empty() ? 0 : 1), output()};
  return GpuPlan{.passes = {std::move(pass)}, .scratch_bytes = {}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Gather>();
  kernel.family = "indexing";
  kernel.summary =
      "y[i…, rest…] = x at the coordinates indices[i…, :] along axes; coordinates are clamped to x";
  kernel.inputs = {2, 2};
  kernel.dtypes = rules::all_dtypes();
  kernel.infer = infer;
  rules::use_shader(kernel, shader(), &plan);
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::gather
