// Replaces Vulkan functions through the function table.
//
// Every function of the table can be made to fail at a chosen call, and single functions can be
// replaced by a test's own. State is per process, as function pointers carry none: one test at a
// time, and reset() before each.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>

#include "stoker/device/vulkan/instance/api.hpp"

namespace stoker::device::vulkan::testing {

/// Which call fails, and with what. Counts every call of a function that returns a VkResult.
class Faults {
 public:
  static Faults& instance();

  void reset();
  /// Call number `index` (from 0) of `function` returns `result` without reaching the driver; with
  /// `always`, every later one does, too.
  void fail(std::string function, int index, VkResult result, bool always = false);
  [[nodiscard]] std::map<std::string, int> calls() const;
  [[nodiscard]] bool happened() const;

  [[nodiscard]] std::optional<VkResult> on_call(const char* function);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> calls_;
  std::string function_;
  int index_ = -1;
  bool always_ = false;
  bool happened_ = false;
  VkResult result_ = VK_SUCCESS;
};

/// Stands before one function of the table.
template <class Tag, class Pfn> struct Interceptor;
template <class Tag, class Result, class... Args>
struct Interceptor<Tag, Result(VKAPI_PTR*)(Args...)> {
  using Function = Result(VKAPI_PTR*)(Args...);
  static inline Function real = nullptr;
  static VKAPI_ATTR Result VKAPI_CALL call(Args... args) {
    if constexpr (std::is_same_v<Result, VkResult>)
      if (const auto injected = Faults::instance().on_call(Tag::name)) return *injected;
    return real(args...);
  }
  static void install(Function& entry) {
    if (!entry || entry == &call) return;
    real = entry;
    entry = &call;
  }
};

/// A filter that puts an Interceptor before every function.
[[nodiscard]] ApiFilter fault_filter();

}  // namespace stoker::device::vulkan::testing
