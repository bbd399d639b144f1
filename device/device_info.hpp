// Describes a device: its kind, its limits, and why it was accepted or rejected.
//
// Values; filled by a driver, constant afterwards. Threads: as values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/runtime/base/dtype.hpp"

namespace stoker {

enum class DeviceType : std::uint8_t {
  discrete_gpu,
  integrated_gpu,
  virtual_gpu,
  software_gpu,
  cpu,
  null
};
[[nodiscard]] std::string_view to_string(DeviceType type) noexcept;

struct DeviceLimits {
  std::uint64_t max_allocation = ~std::uint64_t{0};  ///< bytes of one buffer
  std::uint64_t max_storage_range = ~std::uint64_t{0};
  std::uint32_t max_groups = 65535;  ///< per axis
  std::uint32_t max_push_bytes = 128;
  std::uint32_t shared_bytes = 0;
  std::uint32_t subgroup_size = 1;
};

struct DeviceInfo {
  std::string name;         ///< the name by which users select it: "cpu", "vulkan:0", "null"
  std::string backend;      ///< "vulkan"
  std::string description;  ///< "NVIDIA H200"
  DeviceType type = DeviceType::null;
  std::string driver;  ///< driver name and version
  std::string uuid;    ///< hex; stable across runs where the driver has one
  std::uint64_t memory_bytes = 0;
  std::uint32_t compute_units = 1;
  DeviceLimits limits;
  std::vector<DType> dtypes;          ///< what kernels may compute on here
  std::vector<std::string> features;  ///< optional features in use, as their Vulkan names
  bool has_transfer_queue = false;
  bool unified_memory = false;    ///< device memory can be mapped by the host
  bool host_addressable = false;  ///< steps may name any host memory (HostBlock)
};

/// Why a device was accepted or rejected; `stoker doctor` prints it.
struct Diagnosis {
  std::string subject;  ///< "libvulkan.so.1", "NVIDIA H200"
  bool accepted = false;
  std::string reason;
};

}  // namespace stoker
