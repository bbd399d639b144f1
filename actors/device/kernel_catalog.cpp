#include "stoker/actors/device/kernel_catalog.hpp"

#include <algorithm>
#include <mutex>

namespace stoker {

Result<void> KernelCatalog::add(Kernel kernel) {
  const auto taken = [&](const std::string& name) { return builtin_.find(name).has_value(); };
  if (taken(kernel.name) || std::ranges::any_of(kernel.aliases, taken))
    return Error{"add_kernel",
                 ErrorCode::already_exists,
                 "a built-in kernel has this name",
                 {{"kernel", kernel.name}}};
  STOKER_TRY(fork_.check("add_kernel"));
  const std::scoped_lock lock{mutex_};
  return added_.add(std::move(kernel));
}

Result<std::shared_ptr<const Kernel>> KernelCatalog::find(std::string_view name) const {
  auto found = builtin_.find(name);
  if (found) return found;
  STOKER_TRY(fork_.check(name));
  const std::shared_lock lock{mutex_};
  auto own = added_.find(name);
  return own ? own : found;
}

std::vector<std::shared_ptr<const Kernel>> KernelCatalog::list() const {
  fork_.check("kernels").value();
  auto kernels = builtin_.list();
  {
    const std::shared_lock lock{mutex_};
    std::ranges::copy(added_.list(), std::back_inserter(kernels));
  }
  std::ranges::sort(kernels, {}, [](const auto& kernel) { return kernel->name; });
  return kernels;
}

}  // namespace stoker
