#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/tensor/control/prepared_function.hpp"
#include "stoker/pipeline/tensor/control/steps.hpp"

namespace stoker::expr {
namespace {

class CondStep final : public HostStep {
 public:
  CondStep(std::shared_ptr<const PreparedFunction> yes, std::shared_ptr<const PreparedFunction> no)
      : yes_{std::move(yes)}, no_{std::move(no)} {}

  std::string name() const override { return "cond"; }

  Result<void> start(const std::shared_ptr<DeviceClient>& device,
                     std::span<const DeviceBuffer> inputs, std::span<const DeviceBuffer> outputs,
                     const CommandOptions& options) const override {
    STOKER_ASSIGN(const auto condition, device->read(inputs[0], 0, 1, options));
    STOKER_ASSIGN(const std::shared_ptr<HeldResults> results, HeldResults::hold(device, outputs));
    Buffers arguments(inputs.begin() + 1, inputs.end());
    static_cast<void>(condition.then(
        device->executor(), [results, yes = yes_, no = no_, arguments = std::move(arguments),
                             options](const Result<std::vector<std::byte>>& value) {
          if (!value) {
            results->fail(value.error());
            return;
          }
          const auto& taken = value->front() != std::byte{0} ? yes : no;
          const auto made = taken->run(results->device(), arguments, options);
          if (!made) {
            results->fail(made.error());
            return;
          }
          for (std::size_t i = 0; i < made->size(); ++i) results->write(i, 0, (*made)[i]);
          results->finish();
        }));
    return {};
  }

 private:
  const std::shared_ptr<const PreparedFunction> yes_;
  const std::shared_ptr<const PreparedFunction> no_;
};

}  // namespace

Result<std::shared_ptr<const HostStep>> cond_step(const Function& yes, const Function& no,
                                                  const std::shared_ptr<DeviceClient>& device) {
  STOKER_ASSIGN(std::shared_ptr<const PreparedFunction> first, PreparedFunction::make(yes, device));
  STOKER_ASSIGN(std::shared_ptr<const PreparedFunction> second, PreparedFunction::make(no, device));
  return std::shared_ptr<const HostStep>{
      std::make_shared<CondStep>(std::move(first), std::move(second))};
}

}  // namespace stoker::expr
