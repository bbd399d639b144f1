// Vulkan's "ask for the count, then for the items" idiom.
#pragma once

#include <vector>

#include "stoker/device/vulkan/instance/result.hpp"

namespace stoker::device::vulkan {

/// Every item that `call(&count, items)` lists; asks again while the list grows between the calls.
template <class Item, class Call>
[[nodiscard]] Result<std::vector<Item>> enumerate(std::string_view function, Call&& call) {
  std::vector<Item> items;
  for (;;) {
    std::uint32_t count = 0;
    if (const VkResult result = call(&count, static_cast<Item*>(nullptr)); result < 0)
      return vk_error("vulkan", function, result);
    items.resize(count);
    if (count == 0) return items;
    const VkResult result = call(&count, items.data());
    if (result < 0) return vk_error("vulkan", function, result);
    items.resize(count);
    if (result != VK_INCOMPLETE) return items;
  }
}

}  // namespace stoker::device::vulkan
