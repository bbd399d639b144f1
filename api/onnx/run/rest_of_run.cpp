#include "stoker/api/onnx/run/rest_of_run.hpp"

#include <utility>

#include "stoker/runtime/process/process.hpp"

namespace stoker::onnx {
namespace {

using Outputs = std::optional<NamedValues>;

}  // namespace

/// Waits for a process and completes the run with what it gives; owns itself until then.
class RestOfRun::Process final : private Waiter {
 public:
  static void follow(boost::intrusive_ptr<RestOfRun> run, Future<Outputs> process) {
    auto* const self = new Process{std::move(run), std::move(process)};  // NOLINT: see wake()
    self->process_.on_ready(*self);
  }

 private:
  Process(boost::intrusive_ptr<RestOfRun> run, Future<Outputs> process) noexcept
      : run_{std::move(run)}, process_{std::move(process)} {}
  void wake() noexcept override {
    const std::unique_ptr<Process> self{this};
    const Result<Outputs>& outcome = *process_.poll();
    if (!outcome)
      run_->complete(outcome.error());
    else if (outcome.value())
      run_->complete(*outcome.value());
  }

  const boost::intrusive_ptr<RestOfRun> run_;
  const Future<Outputs> process_;
};

Future<NamedValues> RestOfRun::start(Executor& executor, std::size_t stack_bytes, Work work) {
  const boost::intrusive_ptr<RestOfRun> run{new RestOfRun{
      executor, stack_bytes, std::move(work)}};  // NOLINT: owned by the counted pointer
  run->spawn(false);
  return Future<NamedValues>{run};
}

void RestOfRun::spawn(bool taken) {
  boost::intrusive_ptr<RestOfRun> self{this};
  Future<Outputs> process =
      stoker::Process::spawn(executor_,
                             [self, taken]() -> Outputs {
                               if (!taken && !self->take()) return {};
                               const Work work = std::exchange(self->work_, {});
                               return work.whole();
                             },
                             {.stack_bytes = stack_bytes_, .name = "onnx.run"});
  Process::follow(std::move(self), std::move(process));
}

void RestOfRun::assist(time_point deadline) noexcept {
  if (deadline != time_point::max() || !take()) return;
  try {
    if (Outputs outputs = work_.followed()) {
      work_ = {};  // what it holds of the run goes before anybody hears of the outcome
      complete(*std::move(outputs));
    } else {
      spawn(true);
    }
  } catch (...) {
    work_ = {};
    complete(error_from_current_exception("onnx.run"));
  }
}

}  // namespace stoker::onnx
