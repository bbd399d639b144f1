#include "stoker/kernels/conv/gpu.hpp"
#include "stoker/kernels/conv/problem.hpp"
#include "stoker/kernels/kernel.hpp"
#include "stoker/kernels/rules.hpp"

namespace stoker::kernels::conv {
namespace {

// Sums and products of such numbers stay far from the ends of 64 bits.
constexpr double most = 1LL << 31;

ParamSpec list(const char* name, double least, const char* doc) {
  return {.name = name,
          .type = ParamType::integers,
          .fallback = std::vector<std::int64_t>{},
          .doc = doc,
          .min = least,
          .max = most};
}

ParamSpec groups(const char* name, const char* doc) {
  return {.name = name,
          .type = ParamType::integer,
          .fallback = std::int64_t{1},
          .doc = doc,
          .min = 1,
          .max = most};
}

}  // namespace

Result<void> define(KernelRegistry& registry) {
  Kernel kernel;
  kernel.name = "conv";
  kernel.family = "linear algebra";
  kernel.summary =
      "y[n, o, i...] = sum over c, t... of x[n, c, i * stride + t * dilation - low] * k[o, c, "
      "t...] "
      "over one to six spatial axes, in any order of axes";
  kernel.source = "XLA operation semantics, ConvGeneralDilated";
  kernel.params = {
      list("strides", 1, "entries between windows, for each spatial axis; empty: 1"),
      list("padding_low", -most, "zeros before each spatial axis; negative: cropped; empty: none"),
      list("padding_high", -most, "zeros behind each spatial axis; negative: cropped; empty: none"),
      list("input_dilation", 1, "distance of the input's entries, zeros between; empty: 1"),
      list("kernel_dilation", 1, "distance of the taps; empty: 1"),
      groups("feature_groups", "parts of channels and outputs that belong together"),
      groups("batch_groups", "parts of batch and outputs that belong together"),
      list("input_axes", 0, "axes of x that are batch, channels, spatial axes; empty: in order"),
      list("kernel_axes", 0, "axes of k that are outputs, channels, spatial axes; empty: in order"),
      list("output_axes", 0, "axes of y that are batch, outputs, spatial axes; empty: in order"),
      {.name = "flip",
       .type = ParamType::boolean,
       .fallback = false,
       .doc = "read the kernel backwards along its spatial axes"}};
  kernel.inputs = {2, 2};
  kernel.dtypes = rules::float_dtypes();
  kernel.infer = [](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_ASSIGN(const TensorSpec spec, infer(call));
    return std::vector{spec};
  };
  const GpuShaders& shaders = GpuShaders::shared();
  kernel.shaders = shaders.all();
  kernel.gpu = [&shaders](const KernelCall& call, std::span<const TensorSpec> outputs,
                          const GpuTraits& traits) {
    return gpu_plan(shaders, call, outputs[0], traits);
  };
  return registry.add(std::move(kernel));
}

}  // namespace stoker::kernels::conv
