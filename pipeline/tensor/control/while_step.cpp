#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/tensor/control/prepared_function.hpp"
#include "stoker/pipeline/tensor/control/steps.hpp"

namespace stoker::expr {
namespace {

/// The two programs of a loop: the first gives the condition of the states it starts from; the other a
/// round's states and their condition, in one program.
struct WhilePrograms {
  std::shared_ptr<const PreparedFunction> first;
  std::shared_ptr<const PreparedFunction> round;
  std::size_t states = 0;
  std::int64_t most = 0;
};

/// One loop that goes on.
class WhileRun final : public std::enable_shared_from_this<WhileRun> {
 public:
  WhileRun(WhilePrograms programs, std::span<const DeviceBuffer> inputs,
           std::shared_ptr<HeldResults> results, const CommandOptions& options)
      : programs_{std::move(programs)},
        arguments_(inputs.begin(), inputs.end()),
        results_{std::move(results)},
        options_{options} {}

  Result<void> start() {
    STOKER_ASSIGN(const auto condition, programs_.first->run(device(), arguments_, options_));
    return ask(condition[0]);
  }

 private:
  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const { return results_->device(); }

  Result<void> ask(const DeviceBuffer& condition) {
    STOKER_ASSIGN(const auto answer, device()->read(condition, 0, 1, options_));
    static_cast<void>(
        answer.then(device()->executor(),
                    [self = shared_from_this()](const Result<std::vector<std::byte>>& value) {
                      const auto told = value ? self->go_on(value->front() != std::byte{0})
                                              : Result<void>{value.error()};
                      if (!told) self->results_->fail(told.error());
                    }));
    return {};
  }

  Result<void> go_on(bool again) {
    if (!again || (programs_.most > 0 && rounds_ == programs_.most)) {
      for (std::size_t i = 0; i < programs_.states; ++i) results_->write(i, 0, arguments_[i]);
      results_->finish();
      return {};
    }
    ++rounds_;
    STOKER_ASSIGN(std::vector<DeviceBuffer> made,
                  programs_.round->run(device(), arguments_, options_));
    for (std::size_t i = 0; i < programs_.states; ++i) arguments_[i] = std::move(made[i]);
    return ask(made.back());
  }

  const WhilePrograms programs_;
  Buffers arguments_;  // the states of the round, then the captures
  const std::shared_ptr<HeldResults> results_;
  const CommandOptions options_;
  std::int64_t rounds_ = 0;
};

class WhileStep final : public HostStep {
 public:
  explicit WhileStep(WhilePrograms programs) : programs_{std::move(programs)} {}

  std::string name() const override { return "while_loop"; }

  Result<void> start(const std::shared_ptr<DeviceClient>& device,
                     std::span<const DeviceBuffer> inputs, std::span<const DeviceBuffer> outputs,
                     const CommandOptions& options) const override {
    STOKER_ASSIGN(std::shared_ptr<HeldResults> results, HeldResults::hold(device, outputs));
    return std::make_shared<WhileRun>(programs_, inputs, std::move(results), options)->start();
  }

 private:
  const WhilePrograms programs_;
};

}  // namespace

Result<std::shared_ptr<const HostStep>> while_step(const Function& condition, const Function& body,
                                                   std::size_t states, std::int64_t most,
                                                   const std::shared_ptr<DeviceClient>& device) {
  WhilePrograms programs;
  programs.states = states;
  programs.most = most;
  STOKER_ASSIGN(programs.first, PreparedFunction::make(condition, device));
  Function round{body.parameters, body.results};
  std::vector<Value> next = body.results;
  next.insert(next.end(), body.parameters.begin() + static_cast<std::ptrdiff_t>(states),
              body.parameters.end());
  round.results.push_back(call(condition, next)[0]);
  STOKER_ASSIGN(programs.round, PreparedFunction::make(round, device));
  return std::shared_ptr<const HostStep>{std::make_shared<WhileStep>(std::move(programs))};
}

}  // namespace stoker::expr
