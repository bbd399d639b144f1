#include "stoker/bench/vulkan/raw_vulkan.hpp"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>

#include "stoker/kernels/shader/spirv.hpp"

namespace stoker::bench {
namespace {

void check(VkResult result, const char* call) {
  if (result < 0)
    throw std::runtime_error{std::string{call} + " failed: " + std::to_string(result)};
}

template <class T> T structure(VkStructureType type) {
  T value{};
  value.sType = type;
  return value;
}

std::string hex(const std::uint8_t (&bytes)[VK_UUID_SIZE]) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

constexpr std::uint32_t push_limit = 128;

}  // namespace

// clang-format off
#define STOKER_BENCH_INSTANCE_CALLS(X) \
  X(vkDestroyInstance) X(vkEnumeratePhysicalDevices) X(vkGetPhysicalDeviceProperties2) X(vkGetPhysicalDeviceFeatures2) \
  X(vkGetPhysicalDeviceQueueFamilyProperties) X(vkGetPhysicalDeviceMemoryProperties) X(vkCreateDevice) X(vkGetDeviceProcAddr)
#define STOKER_BENCH_DEVICE_CALLS(X) \
  X(vkDestroyDevice) X(vkDeviceWaitIdle) X(vkGetDeviceQueue) X(vkCreateSemaphore) X(vkDestroySemaphore) X(vkWaitSemaphores) \
  X(vkGetSemaphoreCounterValue) X(vkCreateCommandPool) X(vkDestroyCommandPool) X(vkAllocateCommandBuffers) X(vkFreeCommandBuffers) \
  X(vkBeginCommandBuffer) X(vkEndCommandBuffer) X(vkCmdBindPipeline) X(vkCmdPushConstants) X(vkCmdDispatch) X(vkCmdPipelineBarrier2) \
  X(vkCmdCopyBuffer) X(vkCmdResetQueryPool) X(vkCmdWriteTimestamp2) X(vkQueueSubmit2) X(vkCreatePipelineLayout) X(vkDestroyPipelineLayout) \
  X(vkCreateShaderModule) X(vkDestroyShaderModule) X(vkCreateComputePipelines) X(vkDestroyPipeline) X(vkCreateBuffer) X(vkDestroyBuffer) \
  X(vkGetBufferMemoryRequirements) X(vkAllocateMemory) X(vkFreeMemory) X(vkBindBufferMemory) X(vkGetBufferDeviceAddress) \
  X(vkCreateQueryPool) X(vkDestroyQueryPool) X(vkGetQueryPoolResults)
// clang-format on

struct RawVulkan::Api {
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
#define STOKER_BENCH_DECLARE(name) PFN_##name name = nullptr;
  STOKER_BENCH_INSTANCE_CALLS(STOKER_BENCH_DECLARE)
  STOKER_BENCH_DEVICE_CALLS(STOKER_BENCH_DECLARE)
#undef STOKER_BENCH_DECLARE

  void load(VkInstance instance) {
#define STOKER_BENCH_LOAD(name) \
  name = reinterpret_cast<PFN_##name>(vkGetInstanceProcAddr(instance, #name));
    STOKER_BENCH_INSTANCE_CALLS(STOKER_BENCH_LOAD)
#undef STOKER_BENCH_LOAD
  }
  void load(VkDevice device) {
#define STOKER_BENCH_LOAD(name) \
  name = reinterpret_cast<PFN_##name>(vkGetDeviceProcAddr(device, #name));
    STOKER_BENCH_DEVICE_CALLS(STOKER_BENCH_LOAD)
#undef STOKER_BENCH_LOAD
    if (!vkQueueSubmit2) throw std::runtime_error{"the device has no Vulkan 1.3"};
  }
};

RawVulkan::RawVulkan(const std::string& uuid) : api_{std::make_unique<Api>()} {
  open_instance();
  open_device(uuid);
  make_queue_objects();
}

RawVulkan::~RawVulkan() {
  if (device_ && api_->vkDestroyDevice) {
    api_->vkDeviceWaitIdle(device_);
    for (VkPipeline pipeline : pipelines_) api_->vkDestroyPipeline(device_, pipeline, nullptr);
    for (VkBuffer buffer : buffers_) api_->vkDestroyBuffer(device_, buffer, nullptr);
    for (VkDeviceMemory memory : allocations_) api_->vkFreeMemory(device_, memory, nullptr);
    api_->vkDestroyQueryPool(device_, queries_, nullptr);
    api_->vkDestroyPipelineLayout(device_, layout_, nullptr);
    api_->vkDestroyCommandPool(device_, pool_, nullptr);
    api_->vkDestroySemaphore(device_, timeline_, nullptr);
    api_->vkDestroyDevice(device_, nullptr);
  }
  if (instance_ && api_->vkDestroyInstance) api_->vkDestroyInstance(instance_, nullptr);
}

void RawVulkan::open_instance() {
  // Never unloaded: drivers leave threads behind.
  void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) throw std::runtime_error{"no Vulkan loader is installed"};
  api_->vkGetInstanceProcAddr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(
      api_->vkGetInstanceProcAddr(nullptr, "vkCreateInstance"));
  auto application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.apiVersion = VK_API_VERSION_1_3;
  auto info = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  check(create(&info, nullptr, &instance_), "vkCreateInstance");
  api_->load(instance_);
}

void RawVulkan::open_device(const std::string& uuid) {
  std::uint32_t count = 0;
  check(api_->vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
  std::vector<VkPhysicalDevice> all(count);
  check(api_->vkEnumeratePhysicalDevices(instance_, &count, all.data()),
        "vkEnumeratePhysicalDevices");
  for (VkPhysicalDevice candidate : all) {
    auto v11 = structure<VkPhysicalDeviceVulkan11Properties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
    auto properties =
        structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
    properties.pNext = &v11;
    api_->vkGetPhysicalDeviceProperties2(candidate, &properties);
    if (hex(v11.deviceUUID) != uuid) continue;
    physical_ = candidate;
    tick_seconds_ = properties.properties.limits.timestampPeriod * 1e-9;
  }
  if (!physical_) throw std::runtime_error{"no Vulkan device has the UUID " + uuid};

  api_->vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api_->vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
  // A family that computes and does not draw is the faster one where there is one.
  bool found = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if (!(flags & VK_QUEUE_COMPUTE_BIT) || (found && (flags & VK_QUEUE_GRAPHICS_BIT))) continue;
    family_ = i;
    found = true;
    if (!(flags & VK_QUEUE_GRAPHICS_BIT)) break;
  }

  // Everything the device can do, but for the checks of every access.
  auto v13 = structure<VkPhysicalDeviceVulkan13Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  auto v12 = structure<VkPhysicalDeviceVulkan12Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  auto v11 = structure<VkPhysicalDeviceVulkan11Features>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  auto features =
      structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  features.pNext = &v11;
  v11.pNext = &v12;
  v12.pNext = &v13;
  api_->vkGetPhysicalDeviceFeatures2(physical_, &features);
  features.features.robustBufferAccess = VK_FALSE;
  v13.robustImageAccess = VK_FALSE;
  v12.bufferDeviceAddressCaptureReplay = VK_FALSE;

  const float priority = 1;
  auto queue = structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  check(api_->vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
  api_->load(device_);
}

void RawVulkan::make_queue_objects() {
  api_->vkGetDeviceQueue(device_, family_, 0, &queue_);
  auto type = structure<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  auto semaphore = structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  semaphore.pNext = &type;
  check(api_->vkCreateSemaphore(device_, &semaphore, nullptr, &timeline_), "vkCreateSemaphore");
  auto pool = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = family_;
  check(api_->vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_limit};
  auto layout =
      structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  check(api_->vkCreatePipelineLayout(device_, &layout, nullptr, &layout_),
        "vkCreatePipelineLayout");
  auto queries = structure<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
  queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queries.queryCount = 2;
  check(api_->vkCreateQueryPool(device_, &queries, nullptr, &queries_), "vkCreateQueryPool");
}

std::uint32_t RawVulkan::memory_type(std::uint32_t allowed) const {
  VkPhysicalDeviceMemoryProperties properties;
  api_->vkGetPhysicalDeviceMemoryProperties(physical_, &properties);
  for (std::uint32_t i = 0; i < properties.memoryTypeCount; ++i)
    if ((allowed >> i & 1U) &&
        (properties.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT))
      return i;
  throw std::runtime_error{"no device-local memory type"};
}

RawVulkan::Memory RawVulkan::memory(std::uint64_t bytes) {
  auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  Memory made{VK_NULL_HANDLE, 0, bytes};
  check(api_->vkCreateBuffer(device_, &info, nullptr, &made.buffer), "vkCreateBuffer");
  buffers_.push_back(made.buffer);
  VkMemoryRequirements needs;
  api_->vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
  auto flags = structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.pNext = &flags;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = memory_type(needs.memoryTypeBits);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  check(api_->vkAllocateMemory(device_, &allocate, nullptr, &memory), "vkAllocateMemory");
  allocations_.push_back(memory);
  check(api_->vkBindBufferMemory(device_, made.buffer, memory, 0), "vkBindBufferMemory");
  auto address = structure<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  address.buffer = made.buffer;
  made.address = api_->vkGetBufferDeviceAddress(device_, &address);
  return made;
}

RawVulkan::Program RawVulkan::program(const Kernel& kernel, std::span<const TensorSpec> inputs) {
  const ParamSet params = ParamSet::resolve(kernel.name, kernel.params, {}).value();
  const auto outputs = kernel.check(inputs, params).value();
  const GpuPlan plan = kernel.gpu(KernelCall{inputs, params}, outputs, GpuTraits{}).value();
  if (plan.passes.size() != 1) throw std::runtime_error{kernel.name + " takes several passes"};
  const GpuPass& pass = plan.passes[0];
  const auto spirv = builtin_spirv(pass.shader->name, pass.variant);

  auto module_info =
      structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  module_info.codeSize = spirv.size_bytes();
  module_info.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(api_->vkCreateShaderModule(device_, &module_info, nullptr, &module),
        "vkCreateShaderModule");
  std::vector<VkSpecializationMapEntry> map;
  std::vector<std::uint32_t> constants;
  for (std::uint32_t i = 0; i < pass.shader->constants.size(); ++i) {
    map.push_back({i, 4 * i, 4});
    constants.push_back(i < pass.constants.size() ? pass.constants[i]
                                                  : pass.shader->constants[i].value);
  }
  const VkSpecializationInfo specialization{static_cast<std::uint32_t>(map.size()), map.data(),
                                            4 * constants.size(), constants.data()};
  auto info =
      structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization;
  info.layout = layout_;
  Program made;
  const VkResult result =
      api_->vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &made.pipeline);
  api_->vkDestroyShaderModule(device_, module, nullptr);
  check(result, "vkCreateComputePipelines");
  pipelines_.push_back(made.pipeline);
  made.bindings = pass.bindings;
  made.push.assign(pass.push.bytes().begin(), pass.push.bytes().end());
  made.groups = pass.groups;
  return made;
}

VkCommandBuffer RawVulkan::record(const std::function<void(VkCommandBuffer)>& fill) {
  auto allocate =
      structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = pool_;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  check(api_->vkAllocateCommandBuffers(device_, &allocate, &commands), "vkAllocateCommandBuffers");
  auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  // Several submissions of it may be in flight at once.
  begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  check(api_->vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  fill(commands);
  check(api_->vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  return commands;
}

void RawVulkan::dispatch(VkCommandBuffer commands, const Program& program,
                         std::span<const Memory> inputs, std::span<const Memory> outputs) const {
  std::array<std::byte, push_limit> push{};
  std::size_t at = 0;
  for (const PassBinding& binding : program.bindings) {
    const auto& side = binding.source == PassBinding::Source::input ? inputs : outputs;
    std::memcpy(push.data() + at, &side[binding.index].address, 8);
    at += 8;
  }
  std::memcpy(push.data() + at, program.push.data(), program.push.size());
  at += program.push.size();
  api_->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program.pipeline);
  api_->vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<std::uint32_t>(at), push.data());
  api_->vkCmdDispatch(commands, program.groups[0], program.groups[1], program.groups[2]);
}

void RawVulkan::barrier(VkCommandBuffer commands) const {
  auto memory = structure<VkMemoryBarrier2>(VK_STRUCTURE_TYPE_MEMORY_BARRIER_2);
  memory.srcStageMask = memory.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  memory.srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  memory.dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  auto info = structure<VkDependencyInfo>(VK_STRUCTURE_TYPE_DEPENDENCY_INFO);
  info.memoryBarrierCount = 1;
  info.pMemoryBarriers = &memory;
  api_->vkCmdPipelineBarrier2(commands, &info);
}

void RawVulkan::copy(VkCommandBuffer commands, const Memory& from, const Memory& to) const {
  const VkBufferCopy region{0, 0, std::min(from.bytes, to.bytes)};
  api_->vkCmdCopyBuffer(commands, from.buffer, to.buffer, 1, &region);
}

std::uint64_t RawVulkan::submit(VkCommandBuffer commands) {
  auto buffer = structure<VkCommandBufferSubmitInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO);
  buffer.commandBuffer = commands;
  auto signal = structure<VkSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO);
  signal.semaphore = timeline_;
  signal.value = ++value_;
  signal.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  auto info = structure<VkSubmitInfo2>(VK_STRUCTURE_TYPE_SUBMIT_INFO_2);
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &buffer;
  info.signalSemaphoreInfoCount = 1;
  info.pSignalSemaphoreInfos = &signal;
  check(api_->vkQueueSubmit2(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit2");
  return value_;
}

void RawVulkan::wait(std::uint64_t value) const {
  auto info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  check(api_->vkWaitSemaphores(device_, &info, ~std::uint64_t{0}), "vkWaitSemaphores");
}

void RawVulkan::spin(std::uint64_t value) const {
  std::uint64_t reached = 0;
  while (reached < value)
    check(api_->vkGetSemaphoreCounterValue(device_, timeline_, &reached),
          "vkGetSemaphoreCounterValue");
}

double RawVulkan::device_seconds(const std::function<void(VkCommandBuffer)>& fill) {
  VkCommandBuffer commands = record([&](VkCommandBuffer buffer) {
    api_->vkCmdResetQueryPool(buffer, queries_, 0, 2);
    api_->vkCmdWriteTimestamp2(buffer, VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT, queries_, 0);
    fill(buffer);
    api_->vkCmdWriteTimestamp2(buffer, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, queries_, 1);
  });
  wait(submit(commands));
  std::array<std::uint64_t, 2> ticks{};
  check(api_->vkGetQueryPoolResults(device_, queries_, 0, 2, sizeof ticks, ticks.data(),
                                    sizeof ticks[0],
                                    VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "vkGetQueryPoolResults");
  api_->vkFreeCommandBuffers(device_, pool_, 1, &commands);
  return static_cast<double>(ticks[1] - ticks[0]) * tick_seconds_;
}

}  // namespace stoker::bench
