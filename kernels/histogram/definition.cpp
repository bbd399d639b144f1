#include "stoker/kernels/histogram/counting.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::histogram {
namespace {

Result<std::vector<TensorSpec>> infer(const KernelCall& call) {
  STOKER_ASSIGN(const image::Extent image, image::check("histogram", call.inputs[0]));
  const Bins bins = Bins::from(call);
  if (!(bins.low < bins.high))
    return Error{"histogram",
                 ErrorCode::invalid_parameter,
                 "high: " + to_string(ParamValue{call.params.real("high")}) +
                     " is not above low, which is " +
                     to_string(ParamValue{call.params.real("low")}),
                 {{"parameter", "high"}}};
  return std::vector<TensorSpec>{{DType::u32, Shape{image.channels, bins.count}}};
}

Result<GpuPlan> gpu_plan(const CountShaders& shaders, const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable("histogram", call.inputs));
  GpuPlan plan;
  add_count(plan, shaders, call, Bins::from(call), output());
  return plan;
}

ParamSpec bound_param(const char* name, double fallback, const char* doc) {
  return {.name = name,
          .type = ParamType::real,
          .fallback = ParamValue{fallback},
          .doc = doc,
          .min = -1e6,
          .max = 1e6};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  Kernel kernel;
  kernel.name = "histogram";
  kernel.family = "image";
  kernel.summary =
      "how many values of each channel lie in each of equal bins, as u32[channels, bins]; those "
      "outside and NaN are not counted";
  kernel.params = {{.name = "bins",
                    .type = ParamType::integer,
                    .fallback = ParamValue{std::int64_t{256}},
                    .doc = "equal parts of the range from low to high; high is in the last one",
                    .min = 1,
                    .max = 65536},
                   bound_param("low", 0.0, "where the first bin begins, in units of full white"),
                   bound_param("high", 1.0, "where the last bin ends, in units of full white")};
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
