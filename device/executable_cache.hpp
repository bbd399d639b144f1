// Kernels made ready for given inputs and parameters, kept so that repeating a call costs a lookup.
//
// Threads: any. Lifetime: entries are shared; at most `capacity` stay, the oldest go first. Those of a
// kernel that nobody else has any more, as of one made at run time whose plan was dropped, can never be
// asked for again: new entries sweep them out, a few at a time. In a child of fork(), where a thread of
// the parent may hold the lock, no kernel is prepared: the backend is the parent's.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "stoker/device/backend.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

/// What a kernel makes of certain inputs, and how this device does it.
struct Prepared {
  std::shared_ptr<const Kernel> kernel;  // keeps the schema that `params` refers to
  std::vector<TensorSpec> inputs;
  ParamSet params;
  std::vector<TensorSpec> outputs;
  std::shared_ptr<const Executable> executable;
};

class ExecutableCache {
 public:
  explicit ExecutableCache(Backend& backend, std::size_t capacity = 4096)
      : backend_{backend}, capacity_{capacity} {}

  /// Checks the call (Kernel::check), prepares it on first use, and says what comes out of it. Errors:
  /// forked_process, before anything else.
  [[nodiscard]] Result<std::shared_ptr<const Prepared>> get(
      const std::shared_ptr<const Kernel>& kernel, std::span<const TensorSpec> inputs,
      const ParamSet& params);

  [[nodiscard]] std::size_t size() const;
  /// Forgets everything; what is in use stays alive with its users.
  void clear();

 private:
  struct Key {
    const Kernel* kernel;
    std::span<const TensorSpec> inputs;
    const ParamSet* params;
    std::size_t hash;
    bool operator==(const Key& other) const noexcept;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept { return key.hash; }
  };
  [[nodiscard]] static Key key_of(const Kernel& kernel, std::span<const TensorSpec> inputs,
                                  const ParamSet& params) noexcept;

  Backend& backend_;
  const std::size_t capacity_;
  const ForkGuard fork_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<Key, std::shared_ptr<const Prepared>, Hash>
      entries_;  // keys point into values
  std::list<Key> by_age_;
};

}  // namespace stoker
