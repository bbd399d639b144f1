#include "stoker/device/cpu/cpu_backend.hpp"
#include "stoker/kernels/instruction_set.hpp"
#include "stoker/runtime/base/cores.hpp"

namespace stoker::device::cpu {
namespace {

class CpuDriver final : public Driver {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cpu"; }
  [[nodiscard]] std::vector<DeviceInfo> devices() override {
    return {CpuBackend::describe(usable_cores())};
  }
  [[nodiscard]] std::vector<Diagnosis> diagnose() override {
    if (cpu_isa() == "none")  // what users wrote in C++ runs, even so
      return {{"cpu", true, "built in, but " + std::string{no_cpu_version("cpu").reason()}}};
    return {{"cpu", true, "built in; kernels run with " + std::string{cpu_isa()}}};
  }
  [[nodiscard]] Result<std::unique_ptr<Backend>> open(std::size_t, CompletionSink& sink,
                                                      const OpenOptions& options) override {
    return std::unique_ptr<Backend>{std::make_unique<CpuBackend>(
        sink, ComputePool::shared(options.cpu_threads),
        CpuBackend::Options{.flush_subnormals = options.flush_subnormals})};
  }
};

}  // namespace

std::unique_ptr<Driver> make_driver() { return std::make_unique<CpuDriver>(); }

}  // namespace stoker::device::cpu
