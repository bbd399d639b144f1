#include "stoker/device/vulkan/instance/result.hpp"

#include <string>

namespace stoker::device::vulkan {
namespace {

ErrorCode code_of(VkResult result) noexcept {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_MEMORY_MAP_FAILED:
    case VK_ERROR_TOO_MANY_OBJECTS:  // allocations, say: what is kept for reuse may be given back
    case VK_ERROR_FRAGMENTATION: return ErrorCode::out_of_memory;
    case VK_ERROR_DEVICE_LOST: return ErrorCode::device_lost;
    case VK_ERROR_INVALID_SHADER_NV: return ErrorCode::compile_failed;
    case VK_ERROR_INITIALIZATION_FAILED:
    case VK_ERROR_LAYER_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_INCOMPATIBLE_DRIVER: return ErrorCode::unsupported;
    default: return ErrorCode::internal;
  }
}

}  // namespace

std::string_view to_string(VkResult result) noexcept {
#define STOKER_CASE(name) \
  case name: return #name;
  switch (result) {
    STOKER_CASE(VK_SUCCESS)
    STOKER_CASE(VK_NOT_READY)
    STOKER_CASE(VK_TIMEOUT)
    STOKER_CASE(VK_INCOMPLETE)
    STOKER_CASE(VK_ERROR_OUT_OF_HOST_MEMORY)
    STOKER_CASE(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    STOKER_CASE(VK_ERROR_INITIALIZATION_FAILED)
    STOKER_CASE(VK_ERROR_DEVICE_LOST)
    STOKER_CASE(VK_ERROR_MEMORY_MAP_FAILED)
    STOKER_CASE(VK_ERROR_LAYER_NOT_PRESENT)
    STOKER_CASE(VK_ERROR_EXTENSION_NOT_PRESENT)
    STOKER_CASE(VK_ERROR_FEATURE_NOT_PRESENT)
    STOKER_CASE(VK_ERROR_INCOMPATIBLE_DRIVER)
    STOKER_CASE(VK_ERROR_TOO_MANY_OBJECTS)
    STOKER_CASE(VK_ERROR_FRAGMENTED_POOL)
    STOKER_CASE(VK_ERROR_FRAGMENTATION)
    STOKER_CASE(VK_ERROR_INVALID_SHADER_NV)
    STOKER_CASE(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
    STOKER_CASE(VK_ERROR_UNKNOWN)
    default: return "an unknown VkResult";
  }
#undef STOKER_CASE
}

Error vk_error(std::string_view op, std::string_view function, VkResult result,
               std::vector<Detail> details) {
  details.push_back({"function", std::string{function}});
  details.push_back({"result", std::string{to_string(result)}});
  details.push_back({"vk_result", std::to_string(static_cast<int>(result))});
  return Error{std::string{op}, code_of(result), "the Vulkan driver refused a call",
               std::move(details)};
}

}  // namespace stoker::device::vulkan
