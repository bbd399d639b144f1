#include "stoker/device/vulkan/instance/loader.hpp"

#include <dlfcn.h>
#ifndef __APPLE__
#include <link.h>
#endif

#include <algorithm>

namespace stoker::device::vulkan {
namespace {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
#ifndef __APPLE__
  const auto add = [](dl_phdr_info* info, std::size_t, void* to) noexcept {
    try {
      if (info->dlpi_name && *info->dlpi_name)
        static_cast<std::vector<std::string>*>(to)->emplace_back(info->dlpi_name);
    } catch (...) {
      return 1;  // no memory: the rest stays unlisted, and unpinned
    }
    return 0;
  };
  dl_iterate_phdr(add, &names);
#endif
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::vector<std::string> default_library_names() {
#ifdef __APPLE__
  return {"libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib"};
#else
  return {"libvulkan.so.1", "libvulkan.so"};
#endif
}

Result<PFN_vkGetInstanceProcAddr> open_loader(std::span<const std::string> names) {
  std::vector<Detail> details;
  const ForkDelay loading;
  for (const std::string& name : names) {
    void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
      const char* const reason = dlerror();
      details.push_back({name, reason ? reason : "cannot be opened"});
      continue;
    }
    if (void* const symbol = dlsym(library, "vkGetInstanceProcAddr"))
      return reinterpret_cast<PFN_vkGetInstanceProcAddr>(symbol);
    details.push_back({name, "has no vkGetInstanceProcAddr"});
  }
  return Error{"vulkan", ErrorCode::not_found, "no Vulkan loader is installed", std::move(details)};
}

LibraryPin::LibraryPin() : before_{loaded_libraries()} {}

LibraryPin::~LibraryPin() {
  bool any = false;
  try {
    for (const std::string& name : loaded_libraries()) {
      if (std::ranges::binary_search(before_, name)) continue;
      any = true;
      dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
  } catch (...) {
    // Without memory for the list they stay as they are.
  }
  if (any) ForkDelays::come_first();  // each is pinned once, so this comes to an end
}

}  // namespace stoker::device::vulkan
