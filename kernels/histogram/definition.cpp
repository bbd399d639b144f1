#include "stoker/kernels/histogram/bins.hpp"
#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::histogram {
namespace {

// As in count.glsl.
constexpr std::uint64_t group_elements = 16384;

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

struct Shaders {
  std::shared_ptr<const Shader> clear;
  std::shared_ptr<const Shader> count;
};

Shaders make_shaders() {
  Shader clear;
  clear.name = "histogram_clear";
  clear.file = "histogram/clear.glsl";
  clear.bindings = {{.name = "y", .type = "u32", .writes = true}};
  clear.push = {{"n"}};
  clear.variants = {{.name = "u32"}};
  Shader count;
  count.name = "histogram_count";
  count.file = "histogram/count.glsl";
  count.bindings = {{.name = "x", .type = "T"}, {.name = "y", .type = "u32", .writes = true}};
  count.push = {{"n"},
                {"groups"},
                {"channels"},
                {"bins"},
                {"low", PushType::f32},
                {"high", PushType::f32},
                {"scale", PushType::f32}};
  count.variants = rules::variants_of("T", image::dtypes());
  return {std::make_shared<const Shader>(std::move(clear)),
          std::make_shared<const Shader>(std::move(count))};
}

Result<GpuPlan> gpu_plan(const Shaders& shaders, const KernelCall& call) {
  STOKER_TRY(rules::gpu_indexable("histogram", call.inputs));
  const image::Extent image = image::extent(call.shape());
  const Bins bins = Bins::from(call);
  const auto counters = static_cast<std::uint64_t>(image.channels * bins.count);
  PushValues cleared;
  cleared.u32(counters);
  GpuPlan plan;
  plan.passes.push_back({shaders.clear.get(),
                         "u32",
                         {output()},
                         cleared,
                         linear_groups_for(counters, shaders.clear->local_size[0])});
  const auto n = static_cast<std::uint64_t>(image.elements());
  if (n == 0) return plan;
  const std::uint64_t groups = (n + group_elements - 1) / group_elements;
  PushValues push;
  push.u32(n).u32(groups).u32(image.channels).u32(bins.count);
  push.f32(bins.low).f32(bins.high).f32(bins.scale);
  plan.passes.push_back({shaders.count.get(),
                         std::string{to_string(call.dtype())},
                         {input(0), output()},
                         push,
                         linear_groups(groups)});
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
  const Shaders shaders = make_shaders();
  kernel.shaders = {shaders.clear, shaders.count};
  kernel.gpu = [shaders](const KernelCall& call, std::span<const TensorSpec>, const GpuTraits&) {
    return gpu_plan(shaders, call);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::histogram
