// Opens the Vulkan loader at run time, so that one binary runs where no Vulkan is installed.
//
// A library once opened stays: drivers leave threads and thread-locals behind that outlive the last
// use, and unloading under them crashes processes on their way out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/device/vulkan/instance/api.hpp"
#include "stoker/runtime/base/fork_delay.hpp"

namespace stoker::device::vulkan {

/// The names the loader goes by on this system, best first.
[[nodiscard]] std::vector<std::string> default_library_names();

/// vkGetInstanceProcAddr of the first library of `names` that opens; `not_found` with what the
/// system said about each.
[[nodiscard]] Result<PFN_vkGetInstanceProcAddr> open_loader(std::span<const std::string> names);

/// Keeps every library in memory that is loaded while one of these lives: the drivers and layers
/// that an instance brings in, and what they load for a device or a pipeline, which the end of those
/// would unload. NVIDIA's driver (580) frees memory
/// twice when that happens, or, after some thirty rounds, finds no room for its thread-locals.
/// A fork waits meanwhile: its child would find the list of loaded files locked. Later forks wait for such
/// calls before the handlers run that the libraries have added.
class LibraryPin {
 public:
  LibraryPin();
  ~LibraryPin();
  LibraryPin(const LibraryPin&) = delete;
  LibraryPin& operator=(const LibraryPin&) = delete;

 private:
  const ForkDelay delay_;
  std::vector<std::string> before_;  // sorted
};

}  // namespace stoker::device::vulkan
