#include "stoker/pipeline/tensor/lowering/fallback_kernel.hpp"

#include <mutex>
#include <set>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/device/commands/command_scheduler.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker::expr {
namespace {

/// The kernels of a device that were told of. One for each device client.
class Notices {
 public:
  void say(const std::string& kernel, const DeviceClient& device, const DeviceClient& other) {
    {
      const std::scoped_lock lock{mutex_};
      if (!said_.insert(kernel).second) return;
    }
    log_warn("a kernel runs on another device because its own lacks it",
             {{"kernel", kernel}, {"device", device.info().name}, {"runs_on", other.info().name}});
  }

 private:
  std::mutex mutex_;
  std::set<std::string> said_;
};

class StandInStep final : public HostStep {
 public:
  StandInStep(std::shared_ptr<const Kernel> kernel, Params params,
              std::shared_ptr<DeviceClient> other)
      : kernel_{std::move(kernel)}, params_{std::move(params)}, other_{std::move(other)} {}

  std::string name() const override { return kernel_->name + " on " + other_->info().name; }

  Result<void> start(const std::shared_ptr<DeviceClient>& device,
                     std::span<const DeviceBuffer> inputs, std::span<const DeviceBuffer> outputs,
                     const CommandOptions& options) const override {
    const std::shared_ptr<DeviceClient> other = other_->successor();
    std::vector<DeviceBuffer> there;
    for (const DeviceBuffer& input : inputs) {
      STOKER_ASSIGN(DeviceBuffer copy, other->make_buffer(input.spec()));
      STOKER_TRY(copy_all(*device, input, copy, options));
      there.push_back(std::move(copy));
    }
    for (const DeviceBuffer& output : outputs) {
      STOKER_ASSIGN(DeviceBuffer made, other->make_buffer(output.spec()));
      there.push_back(std::move(made));
    }
    BufferList list;
    for (const DeviceBuffer& buffer : there) list.push_back(&buffer);
    const std::span<const DeviceBuffer* const> all{list.data(), list.size()};
    STOKER_ASSIGN(const CommandPtr command, other->submit({kernel_, all.first(inputs.size()),
                                                           all.subspan(inputs.size()), &params_},
                                                          options));
    command->observe();  // who reads the results hears of a failure
    for (std::size_t i = 0; i < outputs.size(); ++i)
      STOKER_TRY(copy_all(*other, there[inputs.size() + i], outputs[i], options));
    return {};
  }

 private:
  static Result<void> copy_all(DeviceClient& source, const DeviceBuffer& from,
                               const DeviceBuffer& to, const CommandOptions& options) {
    STOKER_ASSIGN(const CommandPtr command,
                  source.copy(from, 0, to, 0, from.spec().bytes(), options));
    command->observe();
    return {};
  }

  const std::shared_ptr<const Kernel> kernel_;
  const Params params_;
  const std::shared_ptr<DeviceClient> other_;
};

}  // namespace

Result<std::shared_ptr<const HostStep>> fallback_kernel(
    const std::shared_ptr<const Kernel>& kernel, std::span<const TensorSpec> inputs,
    const Params& params, const std::shared_ptr<DeviceClient>& device) {
  STOKER_ASSIGN(const ParamSet resolved, ParamSet::resolve(kernel->name, kernel->params, params));
  const auto prepared = device->scheduler().executables().get(kernel, inputs, resolved);
  if (prepared) return std::shared_ptr<const HostStep>{};
  if (prepared.error().code() != ErrorCode::unsupported) return prepared.error();
  const auto found = device->fallback_device();
  if (!found || !*found || *found == device) return prepared.error();
  const std::shared_ptr<DeviceClient>& other = *found;
  if (const auto there = other->scheduler().executables().get(kernel, inputs, resolved);
      there.has_error())
    return there.error().code() == ErrorCode::unsupported ? prepared.error() : there.error();
  device->services().get<Notices>()->say(kernel->name, *device, *other);
  return std::shared_ptr<const HostStep>{std::make_shared<StandInStep>(kernel, params, other)};
}

}  // namespace stoker::expr
