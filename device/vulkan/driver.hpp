// The Vulkan driver: finds the devices and opens them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/device/vulkan/instance/api.hpp"
#include "stoker/device/vulkan/instance/loader.hpp"

namespace stoker::device::vulkan {

/// What tests replace; the defaults are what everyone else gets.
struct DriverOptions {
  std::vector<std::string> libraries = default_library_names();
  ApiFilter filter = {};
};

[[nodiscard]] std::unique_ptr<Driver> make_driver(DriverOptions options);
[[nodiscard]] std::unique_ptr<Driver> make_driver();

}  // namespace stoker::device::vulkan
