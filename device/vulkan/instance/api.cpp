#include "stoker/device/vulkan/instance/api.hpp"

namespace stoker::device::vulkan {
namespace {

Error missing(const char* name) {
  return Error{"vulkan",
               ErrorCode::unsupported,
               "the driver has no function of this name",
               {{"function", name}}};
}

/// The function under its own name, else under its extension's.
template <class Pfn, class Lookup>
void find(Pfn& entry, const char* name, const char* alias, Lookup&& lookup) {
  entry = reinterpret_cast<Pfn>(lookup(name));
  if (!entry) entry = reinterpret_cast<Pfn>(lookup(alias));
}

}  // namespace

#define STOKER_FIND(name, alias) find(name, #name, #alias, lookup);
#define STOKER_REQUIRE(name, alias) \
  STOKER_FIND(name, alias)          \
  if (!name) return missing(#name);

Result<void> VulkanApi::load_global(PFN_vkGetInstanceProcAddr get) {
  vkGetInstanceProcAddr = get;
  const auto lookup = [&](const char* name) { return get(nullptr, name); };
  STOKER_VULKAN_GLOBAL(STOKER_REQUIRE)
  return {};
}

Result<void> VulkanApi::load_instance(VkInstance instance) {
  const auto lookup = [&](const char* name) { return vkGetInstanceProcAddr(instance, name); };
  STOKER_VULKAN_INSTANCE(STOKER_REQUIRE)
  STOKER_VULKAN_INSTANCE_OPTIONAL(STOKER_FIND)
  return {};
}

Result<void> VulkanApi::load_device(VkDevice device) {
  const auto lookup = [&](const char* name) { return vkGetDeviceProcAddr(device, name); };
  STOKER_VULKAN_DEVICE(STOKER_REQUIRE)
  STOKER_VULKAN_DEVICE_OPTIONAL(STOKER_FIND)
  return {};
}

#undef STOKER_REQUIRE
#undef STOKER_FIND

}  // namespace stoker::device::vulkan
