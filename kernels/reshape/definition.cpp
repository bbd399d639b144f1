#include "stoker/kernels/copy/copy.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/reshape/options.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::reshape {
namespace {

std::string bracketed(const std::vector<std::int64_t>& extents) {
  std::string text = "[";
  for (const std::int64_t extent : extents)
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  return text + "]";
}

Error refuse(const KernelCall& call, const std::vector<std::int64_t>& wanted, std::string why) {
  return Error{"reshape",
               ErrorCode::shape_mismatch,
               "cannot reshape " + call.shape().to_string() + " to " + bracketed(wanted) + ": " +
                   std::move(why),
               {{"input", call.shape().to_string()}, {"shape", bracketed(wanted)}}};
}

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  const auto given = options::from<Reshape>(call.params);
  const std::vector<std::int64_t>& wanted = given.shape.list();
  std::vector<std::int64_t> extents = wanted;
  std::int64_t* open = nullptr;
  for (std::int64_t& extent : extents) {
    if (extent != -1) continue;
    if (open) return refuse(call, wanted, "more than one -1");
    open = &extent;
    extent = 1;
  }
  const std::int64_t elements = call.shape().elements();
  STOKER_ASSIGN(Shape shape, Shape::try_make(extents, "reshape"));
  if (open) {
    const std::int64_t others = shape.elements();
    if (others == 0) return refuse(call, wanted, "-1 is ambiguous beside an extent of 0");
    if (elements % others != 0)
      return refuse(
          call, wanted,
          std::to_string(elements) + " elements do not divide by " + std::to_string(others));
    *open = elements / others;
    STOKER_ASSIGN(shape, Shape::try_make(extents, "reshape"));
  }
  if (shape.elements() != elements)
    return refuse(call, wanted,
                  std::to_string(elements) + " elements into " + std::to_string(shape.elements()));
  return std::vector{TensorSpec{call.dtype(), shape}};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Reshape>();
  kernel.family = "memory";
  kernel.summary = "the same elements, in the same row-major order, in another shape";
  kernel.dtypes = rules::all_dtypes();
  kernel.in_place = true;
  kernel.infer = infer;
  const std::shared_ptr<const Shader> shader = copy::shader();
  kernel.shaders = {shader};
  kernel.gpu = [shader](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return copy::gpu_plan("reshape", *shader, call.inputs[0]);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::reshape
