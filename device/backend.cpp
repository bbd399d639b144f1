#include "stoker/device/backend.hpp"

namespace stoker {

std::string_view to_string(DeviceType type) noexcept {
  switch (type) {
    case DeviceType::discrete_gpu: return "discrete_gpu";
    case DeviceType::integrated_gpu: return "integrated_gpu";
    case DeviceType::virtual_gpu: return "virtual_gpu";
    case DeviceType::software_gpu: return "software_gpu";
    case DeviceType::cpu: return "cpu";
    case DeviceType::null: break;
  }
  return "null";
}

}  // namespace stoker
