// The kernels of one system: the built-in ones and those its user has added.
//
// Threads: any. Lifetime: shared by the system and its devices; kernels are never removed.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "stoker/kernels/kernel.hpp"

namespace stoker {

class KernelCatalog {
 public:
  /// Adds a user's kernel. Errors: already_exists, invalid_argument.
  Result<void> add(Kernel kernel);
  /// By name or alias; unknown_kernel names the nearest one.
  [[nodiscard]] Result<std::shared_ptr<const Kernel>> find(std::string_view name) const;
  /// All of them, by name.
  [[nodiscard]] std::vector<std::shared_ptr<const Kernel>> list() const;

 private:
  const KernelRegistry& builtin_ = KernelRegistry::builtin();
  mutable std::shared_mutex mutex_;
  KernelRegistry added_;
};

}  // namespace stoker
