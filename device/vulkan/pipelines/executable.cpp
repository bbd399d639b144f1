#include "stoker/device/vulkan/pipelines/executable.hpp"

#include <algorithm>
#include <cstring>

#include "stoker/kernels/shader/preamble.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::device::vulkan {
namespace {

/// Turns the passes of one plan into pipelines and checks them against the device's limits.
class Preparation {
 public:
  Preparation(const DeviceHandle& device, Pipelines& pipelines, const Kernel& kernel,
              const KernelCall& call, std::span<const TensorSpec> outputs, const GpuPlan& plan)
      : device_{device},
        pipelines_{pipelines},
        kernel_{kernel},
        call_{call},
        outputs_{outputs},
        plan_{plan} {}

  [[nodiscard]] Result<Pass> make(const GpuPass& from) {
    STOKER_ASSIGN(const auto shader, shader_of(from));
    STOKER_TRY(check_bindings(from, *shader));
    STOKER_TRY(check_limits(from, *shader));
    Pass pass;
    std::vector<std::uint32_t> constants;
    for (const SpecConstant& constant : shader->constants) constants.push_back(constant.value);
    for (std::size_t i = 0; i < std::min(constants.size(), from.constants.size()); ++i)
      constants[i] = from.constants[i];
    STOKER_ASSIGN(pass.pipeline, pipelines_.get(shader, from.variant, constants, kernel_.name));
    pass.bindings.assign(from.bindings.begin(), from.bindings.end());
    const auto values = from.push.bytes();
    pass.parameters.resize(8 * from.bindings.size());
    pass.parameters.insert(pass.parameters.end(), values.begin(), values.end());
    pass.in_memory = in_memory(*shader);
    pass.groups = from.groups;
    pass.after_barrier = depends(from, *shader);
    return pass;
  }

 private:
  [[nodiscard]] Error defect(std::string reason, const GpuPass& pass) const {
    return Error{kernel_.name,
                 ErrorCode::internal,
                 std::move(reason),
                 {{"shader", pass.shader ? pass.shader->name : "none"}, {"variant", pass.variant}}};
  }

  [[nodiscard]] Error too_much(const char* limit, std::uint64_t requested,
                               std::uint64_t allowed) const {
    return Error{kernel_.name,
                 ErrorCode::limit_exceeded,
                 "the kernel's plan exceeds a limit of the device",
                 {{"which_limit", limit},
                  {"requested", std::to_string(requested)},
                  {"limit", std::to_string(allowed)},
                  {"device", device_.info().name}}};
  }

  [[nodiscard]] Result<std::shared_ptr<const Shader>> shader_of(const GpuPass& pass) const {
    for (const auto& shader : kernel_.shaders)
      if (shader.get() == pass.shader) return shader;
    return defect("the plan uses a shader that the kernel does not declare", pass);
  }

  [[nodiscard]] Result<void> check_bindings(const GpuPass& pass, const Shader& shader) const {
    if (pass.bindings.size() != shader.bindings.size())
      return defect("the plan binds another number of buffers than the shader declares", pass);
    for (const PassBinding& binding : pass.bindings) {
      const std::size_t there = binding.source == PassBinding::Source::input ? call_.inputs.size()
                                : binding.source == PassBinding::Source::output
                                    ? outputs_.size()
                                    : plan_.scratch_bytes.size();
      if (binding.index >= there)
        return defect("the plan binds a buffer that does not exist", pass);
    }
    if (pass.push.bytes().size() != push_bytes(shader))
      return defect("the plan pushes other bytes than the shader declares", pass);
    return {};
  }

  [[nodiscard]] Result<void> check_limits(const GpuPass& pass, const Shader& shader) const {
    const VkPhysicalDeviceLimits& limits = device_.physical().properties.limits;
    std::uint64_t invocations = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (pass.groups[axis] > limits.maxComputeWorkGroupCount[axis])
        return too_much("maxComputeWorkGroupCount", pass.groups[axis],
                        limits.maxComputeWorkGroupCount[axis]);
      if (shader.local_size[axis] > limits.maxComputeWorkGroupSize[axis])
        return too_much("maxComputeWorkGroupSize", shader.local_size[axis],
                        limits.maxComputeWorkGroupSize[axis]);
      invocations *= shader.local_size[axis];
    }
    if (invocations > limits.maxComputeWorkGroupInvocations)
      return too_much("maxComputeWorkGroupInvocations", invocations,
                      limits.maxComputeWorkGroupInvocations);
    const std::uint64_t rounds = device_.physical().most_rounds();
    if (pass.rounds > rounds)
      return Error{kernel_.name,
                   ErrorCode::unsupported,
                   "this device's driver ends the loops of a thread after " +
                       std::to_string(rounds) + " rounds, and these take up to " +
                       std::to_string(pass.rounds) + "; the CPU device computes this",
                   {{"which_limit", "rounds"},
                    {"requested", std::to_string(pass.rounds)},
                    {"limit", std::to_string(rounds)},
                    {"device", device_.info().name}}};
    return {};
  }

  /// Whether the pass touches what a pass since the last barrier wrote, or writes what one read.
  [[nodiscard]] bool depends(const GpuPass& pass, const Shader& shader) {
    bool hazard = false;
    for (std::size_t i = 0; i < pass.bindings.size(); ++i)
      for (const Use& earlier : uses_)
        hazard = hazard || (same_memory(earlier.binding, pass.bindings[i]) &&
                            (earlier.writes || shader.bindings[i].writes));
    if (hazard) uses_.clear();
    for (std::size_t i = 0; i < pass.bindings.size(); ++i)
      uses_.push_back({pass.bindings[i], shader.bindings[i].writes});
    return hazard;
  }

  [[nodiscard]] bool same_memory(const PassBinding& a, const PassBinding& b) const noexcept {
    if (a.source == b.source) return a.index == b.index;
    const auto first_input = [](const PassBinding& x) {
      return x.source == PassBinding::Source::input && x.index == 0;
    };
    const auto any_output = [](const PassBinding& x) {
      return x.source == PassBinding::Source::output;
    };
    return kernel_.in_place &&
           ((first_input(a) && any_output(b)) || (first_input(b) && any_output(a)));
  }

  struct Use {
    PassBinding binding;
    bool writes;
  };

  const DeviceHandle& device_;
  Pipelines& pipelines_;
  const Kernel& kernel_;
  const KernelCall& call_;
  const std::span<const TensorSpec> outputs_;
  const GpuPlan& plan_;
  std::vector<Use> uses_;
};

const MemoryView& bound_memory(const Step& step, const PassBinding& binding) noexcept {
  switch (binding.source) {
    case PassBinding::Source::input: return step.inputs[binding.index];
    case PassBinding::Source::output: return step.outputs[binding.index];
    case PassBinding::Source::scratch: break;
  }
  return step.scratch[binding.index];
}

}  // namespace

void write_addresses(const Step& step, const Pass& pass, std::byte* to) noexcept {
  for (const PassBinding& binding : pass.bindings) {
    const std::uint64_t address = bound_memory(step, binding).address();
    std::memcpy(to, &address, sizeof address);
    to += sizeof address;
  }
}

Result<std::shared_ptr<const Executable>> VulkanExecutable::prepare(
    const DeviceHandle& device, Pipelines& pipelines, const Kernel& kernel, const KernelCall& call,
    std::span<const TensorSpec> outputs) {
  auto executable = std::make_shared<VulkanExecutable>();
  executable->kernel = kernel.name;
  const bool nothing =
      std::ranges::all_of(outputs, [](const TensorSpec& spec) { return spec.elements() == 0; });
  if (nothing) return std::shared_ptr<const Executable>{std::move(executable)};
  const DeviceInfo& info = device.info();
  if (!kernel.gpu)
    return Error{kernel.name,
                 ErrorCode::unsupported,
                 "this kernel has no GPU version",
                 {{"device", info.name}}};
  const GpuTraits traits{info.limits.subgroup_size, info.limits.shared_bytes, info.compute_units,
                         device.physical().shuffles()};
  STOKER_ASSIGN(const GpuPlan plan, kernel.gpu(call, outputs, traits));
  Preparation preparation{device, pipelines, kernel, call, outputs, plan};
  for (const GpuPass& pass : plan.passes) {
    STOKER_ASSIGN(Pass made, preparation.make(pass));
    executable->passes.push_back(std::move(made));
  }
  executable->scratch_bytes = plan.scratch_bytes;
  return std::shared_ptr<const Executable>{std::move(executable)};
}

void VulkanExecutable::measured(std::uint64_t ns, std::uint64_t target_ns) const noexcept {
  const std::uint64_t time = std::max<std::uint64_t>(ns, 1);
  const std::uint64_t before = estimate_ns_.load(std::memory_order_relaxed);
  // A quarter of each new measurement: one slow run (first touch, low clocks) fades within a few.
  estimate_ns_.store(before == 0 ? time : before - before / 4 + time / 4,
                     std::memory_order_relaxed);
  const bool too_long = target_ns != 0 && before != 0 && time > target_ns;
  if (!too_long || reported_.exchange(true, std::memory_order_relaxed)) return;
  try {
    log_warn("one run of a kernel takes longer than a submission should and cannot be split",
             {{"kernel", kernel},
              {"took_us", std::to_string(time / 1000)},
              {"target_us", std::to_string(target_ns / 1000)}});
  } catch (...) {
    // The report is a courtesy; there is no memory for it.
  }
}

}  // namespace stoker::device::vulkan
