#include "stoker/kernels/histogram/counting.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::histogram {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const image::Extent image, image::check("histogram", call.inputs[0]));
  const auto given = options::from<Histogram>(call.params);
  const Bins bins = Bins::of(given, call.dtype());
  if (!(bins.low < bins.high))
    return Error{"histogram",
                 ErrorCode::invalid_parameter,
                 "high: " + to_string(ParamValue{given.high}) + " is not above low, which is " +
                     to_string(ParamValue{given.low}),
                 {{"parameter", "high"}}};
  return std::vector<TensorSpec>{{DType::u32, Shape{image.channels, bins.count}}};
}

Result<GpuPlan> gpu_plan(const CountShaders& shaders, const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable("histogram", call.inputs));
  GpuPlan plan;
  add_count(plan, shaders, call, Bins::of(options::from<Histogram>(call.params), call.dtype()),
            output());
  return plan;
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  auto kernel = kernel_of<Histogram>();
  kernel.family = "image";
  kernel.summary =
      "the number of values of each channel in each bin, u32[channels, bins]; values outside of "
      "the range and NaN are not counted";
  kernel.dtypes = image::dtypes();
  kernel.infer = infer;
  const CountShaders shaders = count_shaders();
  kernel.shaders = shaders.all();
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return gpu_plan(shaders, call);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::histogram
