#include "stoker/kernels/histogram/counting.hpp"

#include "stoker/kernels/image/image.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::histogram {

CountShaders count_shaders() {
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

void add_count(GpuPlan& plan, const CountShaders& shaders, const KernelCall& call, const Bins& bins,
               PassBinding to) {
  constexpr std::uint64_t group_elements = 16384;  // as in count.glsl
  const image::Extent image = image::extent(call.shape());
  const auto counters = static_cast<std::uint64_t>(image.channels * bins.count);
  PushValues cleared;
  cleared.u32(counters);
  plan.passes.push_back({shaders.clear.get(),
                         "u32",
                         {to},
                         cleared,
                         linear_groups_for(counters, shaders.clear->local_size[0])});
  const auto n = static_cast<std::uint64_t>(image.elements());
  if (n == 0) return;
  const std::uint64_t groups = (n + group_elements - 1) / group_elements;
  PushValues push;
  push.u32(n).u32(groups).u32(image.channels).u32(bins.count);
  push.f32(bins.low).f32(bins.high).f32(bins.scale);
  plan.passes.push_back({shaders.count.get(),
                         std::string{to_string(call.dtype())},
                         {input(0), to},
                         push,
                         linear_groups(groups)});
}

}  // namespace stoker::kernels::histogram
