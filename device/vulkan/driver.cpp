#include "stoker/device/vulkan/driver.hpp"

#include <mutex>
#include <optional>

#include "stoker/device/vulkan/vulkan_backend.hpp"
#include "stoker/runtime/base/fork_delay.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker::device::vulkan {
namespace {

class VulkanDriver final : public Driver {
 public:
  explicit VulkanDriver(DriverOptions options) : options_{std::move(options)} {}

  [[nodiscard]] std::string_view name() const noexcept override { return "vulkan"; }

  [[nodiscard]] std::vector<DeviceInfo> devices() override {
    const std::scoped_lock lock{mutex_};
    std::vector<DeviceInfo> infos;
    if (look()) return infos;
    for (const PhysicalDevice& device : devices_)
      if (device.rejected.empty()) infos.push_back(device.info);
    return infos;
  }

  [[nodiscard]] std::vector<Diagnosis> diagnose() override {
    const std::scoped_lock lock{mutex_};
    const std::string library =
        options_.libraries.empty() ? "libvulkan" : options_.libraries.front();
    if (const auto failure = look()) return {{library, false, failure->what()}};
    std::vector<Diagnosis> list{{library, true, "loaded"}};
    if (devices_.empty())
      list.push_back(
          {"vulkan devices", false,
           "the loader lists none: no driver (ICD) is installed or none found its hardware"});
    for (const PhysicalDevice& device : devices_) {
      const bool accepted = device.rejected.empty();
      const bool software = accepted && device.info.type == DeviceType::software_gpu;
      list.push_back({device.info.description, accepted,
                      !accepted ? device.rejected
                      : software
                          ? device.info.name + "; software, chosen only when asked for by name"
                          : device.info.name + "; " + device.info.driver});
    }
    return list;
  }

  [[nodiscard]] Result<std::unique_ptr<Backend>> open(std::size_t index, CompletionSink& sink,
                                                      const OpenOptions& options) override {
    const std::scoped_lock lock{mutex_};
    try {
      if (auto failure = look()) return std::move(*failure);
      if (!options.validation) return open_in(instance_, devices_, index, sink, options);
      // Layers belong to an instance, so a validated device gets one of its own.
      STOKER_ASSIGN(auto validated, Instance::create(global_, options_.filter, true));
      STOKER_ASSIGN(const auto devices, enumerate_devices(*validated));
      return open_in(std::move(validated), devices, index, sink, options);
    } catch (...) {
      return error_from_current_exception("open");
    }
  }

 private:
  /// Loads Vulkan and lists the devices, once; a failure is tried again by the next call.
  [[nodiscard]] std::optional<Error> look() noexcept {
    if (instance_) return std::nullopt;
    try {
      if (auto found = try_look(); !found) return std::move(found).error();
      return std::nullopt;
    } catch (...) {
      return error_from_current_exception("vulkan");
    }
  }

  [[nodiscard]] Result<void> try_look() {
    // In a child of a process that has loaded drivers, their locks and devices are as its threads left them.
    const ForkDelay looking;
    static const ForkGuard first_look;
    STOKER_TRY(first_look.check("vulkan"));
    STOKER_ASSIGN(const auto get, open_loader(options_.libraries));
    VulkanApi global;
    STOKER_TRY(global.load_global(get));
    if (options_.filter) options_.filter(global);
    STOKER_ASSIGN(auto instance, Instance::create(global, options_.filter, false));
    STOKER_ASSIGN(devices_, enumerate_devices(*instance));
    global_ = global;
    instance_ = std::move(instance);
    return {};
  }

  [[nodiscard]] static Result<std::unique_ptr<Backend>> open_in(
      std::shared_ptr<Instance> instance, const std::vector<PhysicalDevice>& devices,
      std::size_t index, CompletionSink& sink, const OpenOptions& options) {
    for (const PhysicalDevice& device : devices)
      if (device.rejected.empty() && index-- == 0)
        return VulkanBackend::open(std::move(instance), device, sink, options);
    return Error{"open", ErrorCode::not_found, "there is no such Vulkan device"};
  }

  const DriverOptions options_;
  std::mutex mutex_;
  VulkanApi global_;
  std::shared_ptr<Instance> instance_;
  std::vector<PhysicalDevice> devices_;
};

}  // namespace

std::unique_ptr<Driver> make_driver(DriverOptions options) {
  return std::make_unique<VulkanDriver>(std::move(options));
}

std::unique_ptr<Driver> make_driver() { return make_driver(DriverOptions{}); }

}  // namespace stoker::device::vulkan
