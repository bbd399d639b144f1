// What layers above keep for a device, such as programs they have compiled for it. Each kind has one
// object, made when it is first asked for. They may refer to the device's client, so they go before it:
// when it closes, or when another has taken the place of a lost one.
//
// Threads: any. In a child of fork(), where a thread of the parent may hold the lock, it is closed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>

#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {

class DeviceExtensions {
 public:
  /// The T of this device. After close() each caller gets one of its own.
  template <class T> [[nodiscard]] std::shared_ptr<T> get() {
    if (fork_.forked()) return std::make_shared<T>();
    const std::scoped_lock lock{mutex_};
    if (closed_) return std::make_shared<T>();
    std::shared_ptr<void>& kept = all_[typeid(T)];
    if (!kept) kept = std::make_shared<T>();
    return std::static_pointer_cast<T>(kept);
  }
  void close() noexcept {
    if (fork_.forked()) return;
    std::map<std::type_index, std::shared_ptr<void>> going;  // outside the lock
    const std::scoped_lock lock{mutex_};
    closed_ = true;
    going.swap(all_);
  }

 private:
  const ForkGuard fork_;
  std::mutex mutex_;
  std::map<std::type_index, std::shared_ptr<void>> all_;
  bool closed_ = false;
};

}  // namespace stoker
