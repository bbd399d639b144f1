#include "stoker/device/vulkan/pipelines/pipelines.hpp"

#include <span>

#include "stoker/device/vulkan/instance/loader.hpp"
#include "stoker/device/vulkan/instance/result.hpp"
#include "stoker/device/vulkan/memory/shared_memory.hpp"
#include "stoker/kernels/shader/spirv.hpp"

namespace stoker::device::vulkan {
namespace {

/// A shader module for the length of one compilation.
class Module {
 public:
  explicit Module(const DeviceHandle& device) noexcept : device_{device} {}
  ~Module() {
    if (handle_) device_.api().vkDestroyShaderModule(device_.handle(), handle_, nullptr);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  [[nodiscard]] Result<void> start(std::span<const std::uint32_t> spirv) {
    VkShaderModuleCreateInfo info =
        vk_struct<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    info.codeSize = spirv.size_bytes();
    info.pCode = spirv.data();
    STOKER_VK("prepare", device_.api(), vkCreateShaderModule, device_.handle(), &info, nullptr,
              &handle_);
    return {};
  }
  [[nodiscard]] VkShaderModule handle() const noexcept { return handle_; }

 private:
  const DeviceHandle& device_;
  VkShaderModule handle_ = VK_NULL_HANDLE;
};

bool feedback_there(const PhysicalDevice& device) noexcept {
  return device.api_version >= VK_API_VERSION_1_3 ||
         device.has_extension(VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME);
}

/// Threads that exchange values count on all the others of their subgroup being there.
VkPipelineShaderStageCreateFlags stage_flags(const PhysicalDevice& device, const Shader& shader) {
  const bool whole = shader.local_size[0] % device.info.limits.subgroup_size == 0;
  return shader.uses_subgroups && whole && device.has_feature("computeFullSubgroups")
             ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT
             : 0;
}

}  // namespace

Pipeline::~Pipeline() {
  device_->counters.pipelines.fetch_sub(1, std::memory_order_relaxed);
  const DriverUse use{*device_};
  if (use) device_->api().vkDestroyPipeline(device_->handle(), handle_, nullptr);
}

Result<std::unique_ptr<Pipelines>> Pipelines::create(std::shared_ptr<DeviceHandle> device,
                                                     const std::string& cache_dir) {
  auto pipelines = std::make_unique<Pipelines>(device);
  STOKER_ASSIGN(pipelines->cache_, PipelineCache::open(device, cache_dir));
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes_limit};
  VkPipelineLayoutCreateInfo info =
      vk_struct<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  STOKER_VK("open", device->api(), vkCreatePipelineLayout, device->handle(), &info, nullptr,
            &pipelines->layout_);
  return pipelines;
}

Pipelines::~Pipelines() {
  const DriverUse use{*device_};
  if (layout_ && use) device_->api().vkDestroyPipelineLayout(device_->handle(), layout_, nullptr);
}

std::shared_ptr<Pipelines::Entry> Pipelines::entry_for(
    const std::shared_ptr<const Shader>& shader, const std::string& variant,
    const std::vector<std::uint32_t>& constants) {
  const std::scoped_lock lock{mutex_};
  std::shared_ptr<Entry>& entry = entries_[Key{shader.get(), variant, constants}];
  if (!entry) {
    entry = std::make_shared<Entry>();
    entry->shader = shader;
    // User shaders come and go: whoever adds one sweeps out those that nobody uses any more.
    std::erase_if(entries_, [&](const auto& each) {
      if (each.second == entry || each.second.use_count() != 1) return false;
      const std::scoped_lock settled{each.second->compiling};
      return !each.second->kept && each.second->used.expired();
    });
  }
  return entry;
}

Result<std::shared_ptr<const Pipeline>> Pipelines::get(const std::shared_ptr<const Shader>& shader,
                                                       const std::string& variant,
                                                       const std::vector<std::uint32_t>& constants,
                                                       std::string_view kernel) {
  const ShaderVariant* const chosen = shader->variant(variant);
  if (!chosen)
    return Error{std::string{kernel},
                 ErrorCode::internal,
                 "the plan names a variant its shader does not have",
                 {{"shader", shader->name}, {"variant", variant}}};
  const std::shared_ptr<Entry> entry = entry_for(shader, variant, constants);
  const std::scoped_lock lock{entry->compiling};
  if (auto pipeline = entry->used.lock()) return pipeline;
  STOKER_ASSIGN(VkPipeline handle, compile(*shader, *chosen, constants, kernel));
  auto pipeline = std::make_shared<const Pipeline>(device_, handle);
  entry->used = pipeline;
  if (shader->source.empty() && chosen->spirv.empty()) entry->kept = pipeline;
  return pipeline;
}

Result<VkPipeline> Pipelines::compile(const Shader& shader, const ShaderVariant& variant,
                                      const std::vector<std::uint32_t>& constants,
                                      std::string_view kernel) {
  // A user's shader may bear a built-in one's name; only those without a source of their own are it.
  const std::span<const std::uint32_t> spirv = variant.spirv.empty() && shader.source.empty()
                                                   ? builtin_spirv(shader.name, variant.name)
                                                   : std::span{variant.spirv};
  const std::vector<Detail> facts{
      {"device", device_->info().name}, {"shader", shader.name}, {"variant", variant.name}};
  const auto failure = [&](ErrorCode code, std::string reason, std::vector<Detail> more = {}) {
    more.insert(more.end(), facts.begin(), facts.end());
    return Error{std::string{kernel}, code, std::move(reason), std::move(more)};
  };
  if (spirv.empty()) return failure(ErrorCode::not_found, "this build has no SPIR-V of the shader");
  if (std::string missing = missing_for(spirv, device_->physical().shaders); !missing.empty())
    return failure(ErrorCode::unsupported, "the device lacks a feature that the shader needs",
                   {{"feature", missing}});
  const std::uint64_t most = device_->physical().properties.limits.maxComputeSharedMemorySize;
  if (const std::uint64_t shared = shared_bytes(spirv, constants); shared > most)
    return failure(ErrorCode::limit_exceeded, "the shader shares more memory than the device has",
                   {{"which_limit", "maxComputeSharedMemorySize"},
                    {"requested", std::to_string(shared)},
                    {"limit", std::to_string(most)}});

  Module module{*device_};
  STOKER_TRY(module.start(spirv));
  std::vector<VkSpecializationMapEntry> map;
  for (std::uint32_t i = 0; i < constants.size(); ++i) map.push_back({i, 4 * i, 4});
  const VkSpecializationInfo specialization{static_cast<std::uint32_t>(map.size()), map.data(),
                                            4 * constants.size(), constants.data()};
  VkPipelineCreationFeedback feedback{};
  VkPipelineCreationFeedback stage_feedback{};
  VkPipelineCreationFeedbackCreateInfo feedback_info =
      vk_struct<VkPipelineCreationFeedbackCreateInfo>(
          VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO);
  feedback_info.pPipelineCreationFeedback = &feedback;
  feedback_info.pipelineStageCreationFeedbackCount = 1;
  feedback_info.pPipelineStageCreationFeedbacks = &stage_feedback;

  VkComputePipelineCreateInfo info =
      vk_struct<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  info.pNext = feedback_there(device_->physical()) ? &feedback_info : nullptr;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.flags = stage_flags(device_->physical(), shader);
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module.handle();
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = constants.empty() ? nullptr : &specialization;
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const LibraryPin pin;  // a driver may load its compiler when it first needs it
  const VkResult result = device_->api().vkCreateComputePipelines(
      device_->handle(), cache_->handle(), 1, &info, nullptr, &pipeline);
  if (result != VK_SUCCESS) return vk_error(kernel, "vkCreateComputePipelines", result, facts);

  device_->name(VK_OBJECT_TYPE_PIPELINE, reinterpret_cast<std::uint64_t>(pipeline),
                (shader.name + "/" + variant.name).c_str());
  device_->counters.pipelines_created.fetch_add(1, std::memory_order_relaxed);
  const bool hit =
      (feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT) &&
      (feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT);
  if (hit)
    device_->counters.pipelines_from_cache.fetch_add(1, std::memory_order_relaxed);
  else
    cache_->on_compiled();
  return pipeline;
}

}  // namespace stoker::device::vulkan
