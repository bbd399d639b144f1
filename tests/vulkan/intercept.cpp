#include "intercept.hpp"

namespace stoker::device::vulkan::testing {
namespace {

#define STOKER_TAG(function, alias)                \
  struct function##_tag {                          \
    static constexpr const char* name = #function; \
  };
STOKER_VULKAN_ALL(STOKER_TAG)
#undef STOKER_TAG

}  // namespace

Faults& Faults::instance() {
  static Faults faults;
  return faults;
}

void Faults::reset() {
  const std::scoped_lock lock{mutex_};
  calls_.clear();
  function_.clear();
  happened_ = false;
}

void Faults::fail(std::string function, int index, VkResult result, bool always) {
  reset();
  const std::scoped_lock lock{mutex_};
  function_ = std::move(function);
  index_ = index;
  result_ = result;
  always_ = always;
}

std::map<std::string, int> Faults::calls() const {
  const std::scoped_lock lock{mutex_};
  return calls_;
}

bool Faults::happened() const {
  const std::scoped_lock lock{mutex_};
  return happened_;
}

std::optional<VkResult> Faults::on_call(const char* function) {
  const std::scoped_lock lock{mutex_};
  const int index = calls_[function]++;
  if (function_ != function || (always_ ? index < index_ : index != index_)) return std::nullopt;
  happened_ = true;
  return result_;
}

ApiFilter fault_filter() {
  return [](VulkanApi& api) {
#define STOKER_INSTALL(function, alias) \
  Interceptor<function##_tag, PFN_##function>::install(api.function);
    STOKER_VULKAN_ALL(STOKER_INSTALL)
#undef STOKER_INSTALL
  };
}

}  // namespace stoker::device::vulkan::testing
