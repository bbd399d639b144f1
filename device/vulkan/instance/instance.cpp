#include "stoker/device/vulkan/instance/instance.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "stoker/device/vulkan/instance/enumerate.hpp"
#include "stoker/device/vulkan/instance/loader.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::device::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

template <class Properties, class Name>
bool lists(const std::vector<Properties>& all, Name Properties::*name, const char* wanted) {
  return std::ranges::any_of(
      all, [&](const Properties& each) { return std::strcmp(each.*name, wanted) == 0; });
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                          void* instance) {
  static_cast<Instance*>(instance)->count_message();
  try {
    log_warn("vulkan validation", {{"message", data->pMessage ? data->pMessage : ""}});
  } catch (...) {
    // Counted already; a message that cannot be printed may not cross the driver's C frames.
  }
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(Instance* instance) {
  VkDebugUtilsMessengerCreateInfoEXT info = vk_struct<VkDebugUtilsMessengerCreateInfoEXT>(
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  info.pfnUserCallback = on_message;
  info.pUserData = instance;
  return info;
}

}  // namespace

Result<std::shared_ptr<Instance>> Instance::create(const VulkanApi& global, ApiFilter filter,
                                                   bool validation) {
  auto instance = std::make_shared<Instance>(global, std::move(filter));
  STOKER_TRY(instance->start(validation));
  return instance;
}

Result<void> Instance::start(bool validation) {
  const ExitDelay delay;
  if (delay.too_late()) return process_exits("vulkan");
  const LibraryPin pin;  // from here: the loader opens drivers at its first call of any kind
  std::uint32_t loader_version = VK_API_VERSION_1_0;
  STOKER_VK("vulkan", api_, vkEnumerateInstanceVersion, &loader_version);
  if (loader_version < VK_API_VERSION_1_2)
    return Error{"vulkan", ErrorCode::unsupported, "the Vulkan loader is older than 1.2"};
  api_version_ = loader_version >= VK_API_VERSION_1_3 ? VK_API_VERSION_1_3 : VK_API_VERSION_1_2;

  std::vector<const char*> wanted_extensions;
  std::vector<const char*> wanted_layers;
  if (validation) {
    STOKER_ASSIGN(const auto layers,
                  enumerate<VkLayerProperties>(
                      "vkEnumerateInstanceLayerProperties", [&](auto* count, auto* out) {
                        return api_.vkEnumerateInstanceLayerProperties(count, out);
                      }));
    validation = lists(layers, &VkLayerProperties::layerName, validation_layer);
    if (!validation) log_warn("the Vulkan validation layer was asked for but is not installed");
  }
  if (validation) {
    wanted_layers.push_back(validation_layer);
    wanted_extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    wanted_extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
  }

  const VkApplicationInfo application{
      VK_STRUCTURE_TYPE_APPLICATION_INFO, nullptr, "stoker", 0, "stoker", 0, api_version_};
  const VkValidationFeatureEnableEXT checks[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(this);
  VkValidationFeaturesEXT features =
      vk_struct<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
  features.pNext = &messenger;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = checks;

  VkInstanceCreateInfo info =
      vk_struct<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pNext = validation ? &features : nullptr;
  info.pApplicationInfo = &application;
  info.enabledLayerCount = static_cast<std::uint32_t>(wanted_layers.size());
  info.ppEnabledLayerNames = wanted_layers.data();
  STOKER_TRY(create(info, std::move(wanted_extensions)));
  STOKER_TRY(api_.load_instance(handle_));
  if (filter_) filter_(api_);
  if (validation && api_.vkCreateDebugUtilsMessengerEXT)
    STOKER_VK("vulkan", api_, vkCreateDebugUtilsMessengerEXT, handle_, &messenger, nullptr,
              &messenger_);
  // The drivers are loaded now: what their handlers of exit() take away is still there when ours run.
  exit_watch_.emplace([] {});
  return {};
}

Result<void> Instance::create(VkInstanceCreateInfo info, std::vector<const char*> extensions) {
  const auto attempt = [&] {
    info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    return api_.vkCreateInstance(&info, nullptr, &handle_);
  };
  // MoltenVK is listed only to those who ask for it. Loaders before 1.3.207 do not know the question. To
  // list their extensions first would have them open and close every driver twice.
  info.flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
  VkResult result = attempt();
  if (result == VK_ERROR_EXTENSION_NOT_PRESENT) {
    info.flags = 0;
    extensions.pop_back();
    result = attempt();
  }
  if (result < 0) return vk_error("vulkan", "vkCreateInstance", result);
  return {};
}

Instance::~Instance() {
  const ExitDelay delay;
  if (delay.too_late()) return;
  const ForkDelay whole;  // the loader closes what it has opened
  if (messenger_) api_.vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
  // Without its functions loaded a half-made instance cannot be destroyed; it is left behind.
  if (handle_ && api_.vkDestroyInstance) api_.vkDestroyInstance(handle_, nullptr);
}

}  // namespace stoker::device::vulkan
