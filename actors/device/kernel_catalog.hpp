// The kernels of one system: the built-in ones and those its user has added.
//
// Threads: any. Lifetime: shared by the system and its devices; kernels are never removed. In a child of
// fork(), where a thread of the parent may hold the lock, all but a built-in kernel is refused with
// forked_process.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "stoker/kernels/kernel.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

class KernelCatalog {
 public:
  /// Adds a user's kernel. Errors: already_exists, invalid_argument.
  Result<void> add(Kernel kernel);
  /// By name or alias; unknown_kernel names the nearest one.
  [[nodiscard]] Result<std::shared_ptr<const Kernel>> find(std::string_view name) const;
  /// All of them, by name. Throws forked_process.
  [[nodiscard]] std::vector<std::shared_ptr<const Kernel>> list() const;

 private:
  const KernelRegistry& builtin_ = KernelRegistry::builtin();
  const ForkGuard fork_;
  mutable std::shared_mutex mutex_;
  KernelRegistry added_;
};

}  // namespace stoker
