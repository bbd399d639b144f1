// Where a read's elements gather until its future takes them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stoker/runtime/future.hpp"

namespace stoker {

/// Shared by the command that fills it; see DeviceClient::read_into.
template <class T> struct ReadTarget {
  explicit ReadTarget(std::size_t count) : values(count) {}

  [[nodiscard]] std::span<std::byte> bytes() noexcept {
    return std::as_writable_bytes(std::span{values});
  }
  /// What read_into() calls at the end; it owns the target.
  [[nodiscard]] static std::function<void(const Error*)> completion(
      std::shared_ptr<ReadTarget> target) {
    return [target = std::move(target)](const Error* failure) {
      if (failure)
        static_cast<void>(target->promise.set(*failure));
      else
        static_cast<void>(target->promise.set(std::move(target->values)));
    };
  }

  std::vector<T> values;
  Promise<std::vector<T>> promise;
};

}  // namespace stoker
