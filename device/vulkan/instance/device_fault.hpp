// What the driver can say about a lost device (VK_EXT_device_fault).
#pragma once

#include <vector>

#include "stoker/device/vulkan/instance/device_handle.hpp"

namespace stoker::device::vulkan {

/// Details for the device_lost error: the driver, and the fault where it knows one.
[[nodiscard]] std::vector<Detail> loss_details(const DeviceHandle& device);

}  // namespace stoker::device::vulkan
