// VkResult as Errors.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/device/vulkan/instance/api.hpp"

namespace stoker::device::vulkan {

/// "VK_ERROR_DEVICE_LOST"; codes Stoker does not know read "an unknown VkResult".
[[nodiscard]] std::string_view to_string(VkResult result) noexcept;

/// The failure of `function` during `op`; details carry both names beside `details`.
[[nodiscard]] Error vk_error(std::string_view op, std::string_view function, VkResult result,
                             std::vector<Detail> details = {});

}  // namespace stoker::device::vulkan

/// Calls a Vulkan function of `api` and returns its failure from the enclosing function.
#define STOKER_VK(op, api, function, ...)                                                    \
  do {                                                                                       \
    if (const VkResult stoker_vk_result = (api).function(__VA_ARGS__); stoker_vk_result < 0) \
      return ::stoker::device::vulkan::vk_error(op, #function, stoker_vk_result);            \
  } while (false)
