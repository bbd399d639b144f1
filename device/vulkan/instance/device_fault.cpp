#include "stoker/device/vulkan/instance/device_fault.hpp"

#include <algorithm>
#include <string>

namespace stoker::device::vulkan {
namespace {

constexpr std::uint32_t most_listed = 4;

std::string hex(std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text.push_back(digits[(value >> shift) & 15]);
  return "0x" + text;
}

}  // namespace

std::vector<Detail> loss_details(const DeviceHandle& device) {
  std::vector<Detail> details{{"device", device.info().name},
                              {"description", device.info().description},
                              {"driver", device.info().driver}};
  const VulkanApi& api = device.api();
  if (!device.physical().has_feature("deviceFault") || !api.vkGetDeviceFaultInfoEXT) return details;
  VkDeviceFaultCountsEXT counts =
      vk_struct<VkDeviceFaultCountsEXT>(VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT);
  if (api.vkGetDeviceFaultInfoEXT(device.handle(), &counts, nullptr) < 0) return details;
  std::vector<VkDeviceFaultAddressInfoEXT> addresses(counts.addressInfoCount);
  std::vector<VkDeviceFaultVendorInfoEXT> vendor(counts.vendorInfoCount);
  counts.vendorBinarySize = 0;  // a core dump for the vendor; not asked for
  VkDeviceFaultInfoEXT info =
      vk_struct<VkDeviceFaultInfoEXT>(VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT);
  info.pAddressInfos = addresses.data();
  info.pVendorInfos = vendor.data();
  if (api.vkGetDeviceFaultInfoEXT(device.handle(), &counts, &info) < 0) return details;
  details.push_back({"fault", info.description});
  addresses.resize(std::min(
      {counts.addressInfoCount, static_cast<std::uint32_t>(addresses.size()), most_listed}));
  for (const VkDeviceFaultAddressInfoEXT& each : addresses)
    details.push_back({"fault_address", hex(each.reportedAddress)});
  vendor.resize(
      std::min({counts.vendorInfoCount, static_cast<std::uint32_t>(vendor.size()), most_listed}));
  for (const VkDeviceFaultVendorInfoEXT& each : vendor)
    details.push_back(
        {"fault_vendor", std::string{each.description} + " code " + hex(each.vendorFaultCode)});
  return details;
}

}  // namespace stoker::device::vulkan
