#include "stoker/device/null/null_backend.hpp"

namespace stoker::device::null {
namespace {

class NullDriver final : public Driver {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "null"; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override { return {NullBackend::describe()}; }
  [[nodiscard]] std::vector<Diagnosis> diagnose() override {
    return {{"null", true, "built in; chosen only when asked for by name"}};
  }
  [[nodiscard]] Result<std::unique_ptr<Backend>> open(std::size_t, CompletionSink& sink,
                                                      const OpenOptions&) override {
    return std::unique_ptr<Backend>{std::make_unique<NullBackend>(sink)};
  }
};

}  // namespace

std::unique_ptr<Driver> make_driver() { return std::make_unique<NullDriver>(); }

}  // namespace stoker::device::null
