#include "stoker/kernels/image/one_pass.hpp"

#include <utility>

#include "stoker/kernels/image/image.hpp"

namespace stoker::image {

void keep_shape(Kernel& kernel) {
  kernel.infer = [name = kernel.name](const KernelCall& call) -> Result<std::vector<TensorSpec>> {
    STOKER_TRY(check(name, call.inputs[0]));
    return std::vector{call.inputs[0]};
  };
}

GpuPlan one_pass(const Shader& shader, std::string variant, const PushValues& push,
                 std::uint64_t threads) {
  GpuPlan plan;
  plan.passes.push_back({&shader,
                         std::move(variant),
                         {input(0), output()},
                         push,
                         linear_groups_for(threads, shader.local_size[0])});
  return plan;
}

}  // namespace stoker::image
