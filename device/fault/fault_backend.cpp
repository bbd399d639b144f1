// The decorators themselves: they ask the plan and the relay, and else pass every call on.
#include "stoker/device/fault/fault_injection.hpp"
#include "stoker/device/fault/fault_relay.hpp"
#include "stoker/runtime/base/fork_guard.hpp"

namespace stoker {
namespace {

/// How long a waiter may stay in the device underneath before it looks whether that is lost.
constexpr auto wait_slice = std::chrono::milliseconds{10};

/// A recording, with the steps in it that may be told to fail.
class FaultyRecording final : public Recording {
 public:
  FaultyRecording(std::unique_ptr<Recording> recording, std::span<const Step> from)
      : inner{std::move(recording)}, steps{from.begin(), from.end()} {}
  const std::unique_ptr<Recording> inner;
  const std::vector<Step> steps;
};

class FaultyBackend final : public Backend {
 public:
  FaultyBackend(std::unique_ptr<Backend> inner, std::shared_ptr<FaultPlan> plan,
                std::shared_ptr<FaultRelay> relay)
      : inner_{std::move(inner)}, plan_{std::move(plan)}, relay_{std::move(relay)} {}
  ~FaultyBackend() override {
    inner_.reset();  // what ends in its patience is still told
    if (!fork_.forked()) relay_->close();
  }
  FaultyBackend(const FaultyBackend&) = delete;
  FaultyBackend& operator=(const FaultyBackend&) = delete;

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return inner_->info(); }

  [[nodiscard]] Result<std::unique_ptr<MemoryBlock>> allocate(std::uint64_t bytes,
                                                              MemoryKind kind) override {
    STOKER_TRY(enter(&FaultCounters::allocations));
    if (plan_->strike(FaultKind::allocation, relay_->device()))
      return Error{"allocate",
                   ErrorCode::out_of_memory,
                   "the device has no memory left",
                   {{"requested", std::to_string(bytes)},
                    {"limit", std::to_string(info().memory_bytes)},
                    {"device", relay_->device()},
                    {"cause", "injected fault"}}};
    return inner_->allocate(bytes, kind);
  }

  [[nodiscard]] std::uint64_t free_bytes() const noexcept override {
    return relay_->loss() ? Backend::free_bytes() : inner_->free_bytes();
  }

  [[nodiscard]] Result<std::shared_ptr<const Executable>> prepare(
      std::shared_ptr<const Kernel> kernel, const KernelCall& call,
      std::span<const TensorSpec> outputs) override {
    STOKER_TRY(enter(&FaultCounters::prepares));
    if (const auto rule = plan_->strike(FaultKind::prepare, relay_->device()))
      return rule->error.value_or(
          refusal(kernel->name, ErrorCode::compile_failed, "the device cannot compile the kernel"));
    return inner_->prepare(std::move(kernel), call, outputs);
  }

  [[nodiscard]] Result<std::unique_ptr<Recording>> record(std::span<const Step> steps) override {
    STOKER_TRY(enter(&FaultCounters::recordings));
    if (const auto rule = plan_->strike(FaultKind::record, relay_->device()))
      return rule->error.value_or(
          refusal("record", ErrorCode::out_of_memory, "the device has no room for a recording"));
    STOKER_ASSIGN(auto recording, inner_->record(steps));
    return std::unique_ptr<Recording>{
        std::make_unique<FaultyRecording>(std::move(recording), steps)};
  }

  [[nodiscard]] Result<void> submit(const Submission& submission) override {
    const auto* const recording = static_cast<const FaultyRecording*>(submission.recording);
    STOKER_TRY(
        relay_->begin(submission, recording ? std::span{recording->steps} : submission.steps));
    Submission passed = submission;
    if (recording) passed.recording = recording->inner.get();
    auto accepted = inner_->submit(passed);
    if (!accepted) relay_->retract({submission.queue, submission.value});
    return accepted;
  }

  bool wait(QueuePoint point, std::chrono::steady_clock::time_point deadline) noexcept override {
    // The device underneath may need or use the thread; it knows nothing of what is held or lost.
    while (relay_->runs(point)) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= deadline || inner_->wait(point, std::min(deadline, now + wait_slice))) break;
    }
    return relay_->wait(point, deadline);
  }

  [[nodiscard]] BackendCounters counters() const noexcept override { return inner_->counters(); }

 private:
  Result<void> enter(std::uint64_t FaultCounters::*call) {
    if (auto loss = relay_->loss()) return *std::move(loss);
    plan_->count(relay_->device(), call);
    return {};
  }
  [[nodiscard]] Error refusal(std::string op, ErrorCode code, std::string reason) const {
    return Error{std::move(op),
                 code,
                 std::move(reason),
                 {{"device", relay_->device()}, {"cause", "injected fault"}}};
  }

  std::unique_ptr<Backend> inner_;
  const std::shared_ptr<FaultPlan> plan_;
  const std::shared_ptr<FaultRelay> relay_;
  const ForkGuard fork_;
};

class FaultyDriver final : public Driver {
 public:
  FaultyDriver(std::shared_ptr<Driver> inner, std::shared_ptr<FaultPlan> plan)
      : inner_{std::move(inner)}, plan_{std::move(plan)} {}

  [[nodiscard]] std::string_view name() const noexcept override { return inner_->name(); }
  [[nodiscard]] std::vector<DeviceInfo> devices() override { return inner_->devices(); }
  [[nodiscard]] std::vector<Diagnosis> diagnose() override { return inner_->diagnose(); }

  [[nodiscard]] Result<std::unique_ptr<Backend>> open(std::size_t index, CompletionSink& sink,
                                                      const OpenOptions& options) override {
    const std::vector<DeviceInfo> known = inner_->devices();
    const std::string device = index < known.size() ? known[index].name : std::string{name()};
    plan_->count(device, &FaultCounters::opens);
    if (const auto rule = plan_->strike(FaultKind::open, device))
      return rule->error.value_or(injected_loss(device, "the device cannot be opened"));
    auto relay = std::make_shared<FaultRelay>(plan_, device, sink);
    STOKER_ASSIGN(auto inner, inner_->open(index, *relay, options));
    plan_->opened(relay);
    return std::unique_ptr<Backend>{
        std::make_unique<FaultyBackend>(std::move(inner), plan_, std::move(relay))};
  }

 private:
  const std::shared_ptr<Driver> inner_;
  const std::shared_ptr<FaultPlan> plan_;
};

}  // namespace

std::shared_ptr<Driver> with_faults(std::shared_ptr<Driver> driver, const Faults& faults) {
  return std::make_shared<FaultyDriver>(std::move(driver), faults.plan_);
}

std::vector<std::shared_ptr<Driver>> with_faults(const Faults& faults) {
  std::vector<std::shared_ptr<Driver>> drivers;
  for (std::unique_ptr<Driver>& driver : all_drivers())
    drivers.push_back(with_faults(std::shared_ptr<Driver>{std::move(driver)}, faults));
  return drivers;
}

}  // namespace stoker
