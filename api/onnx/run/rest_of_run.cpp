#include "stoker/api/onnx/run/rest_of_run.hpp"

#include <atomic>
#include <utility>

#include "stoker/runtime/process/process.hpp"

namespace stoker::onnx {
namespace {

using RunPtr = boost::intrusive_ptr<RestOfRun>;

}  // namespace

/// What the future's state and its processes know together.
struct RestOfRun::Shared {
  Shared(Executor& where, std::size_t bytes, Work what)
      : executor{where}, stack_bytes{bytes}, work{std::move(what)} {}

  [[nodiscard]] bool take() noexcept { return !taken.exchange(true, std::memory_order_acq_rel); }
  /// For whoever has an outcome first. A process that comes after it must not keep the outputs.
  [[nodiscard]] RunPtr take_run() noexcept {
    return RunPtr{run.exchange(nullptr, std::memory_order_acq_rel), false};
  }

  Executor& executor;  ///< of the device that `work` holds
  const std::size_t stack_bytes;
  std::atomic<bool> taken{false};
  Work work;                             ///< of whoever has taken it
  NamedValues outputs;                   ///< of the process that has done it
  std::atomic<RestOfRun*> run{nullptr};  ///< counted, until there is an outcome
};

/// Waits for a process and completes the run with what it gives; owns itself until then.
class RestOfRun::Process final : private Waiter {
 public:
  /// `taken`: the caller holds the work already. Throws std::bad_alloc, then there is no process.
  static void spawn(const std::shared_ptr<Shared>& shared, bool taken) {
    std::unique_ptr<Process> self{new Process{shared}};  // NOLINT: the constructor is private
    self->process_ =
        stoker::Process::spawn(shared->executor,
                               [shared, taken] {
                                 if (!taken && !shared->take()) return false;
                                 const Work work = std::exchange(shared->work, {});
                                 shared->outputs = work.whole();
                                 return true;
                               },
                               {.stack_bytes = shared->stack_bytes, .name = "onnx.run"});
    Process* const waits = self.release();  // see wake()
    const Future<bool> process = waits->process_;
    process.on_ready(*waits);
  }

 private:
  explicit Process(std::shared_ptr<Shared> shared) noexcept : shared_{std::move(shared)} {}
  void wake() noexcept override {
    const std::unique_ptr<Process> self{this};
    const Result<bool>& has_done_it = *process_.poll();
    if (has_done_it && !has_done_it.value()) return;  // another has
    const RunPtr run = shared_->take_run();
    if (run == nullptr) return;
    if (has_done_it)
      run->complete(std::move(shared_->outputs));  // a copy would need memory
    else
      run->complete(has_done_it.error());
  }

  const std::shared_ptr<Shared> shared_;
  Future<bool> process_;  ///< whether it did the work
};

Future<NamedValues> RestOfRun::start(Executor& executor, std::size_t stack_bytes, Work work) {
  auto shared = std::make_shared<Shared>(executor, stack_bytes, std::move(work));
  const RunPtr run{new RestOfRun{shared}};  // NOLINT: owned by the counted pointer
  shared->run.store(RunPtr{run}.detach(), std::memory_order_release);
  try {
    Process::spawn(shared, false);
  } catch (...) {
    static_cast<void>(shared->take_run());  // nobody else will
    throw;
  }
  return Future<NamedValues>{run};
}

void RestOfRun::assist(time_point deadline) noexcept {
  if (deadline != time_point::max() || !shared_->take()) return;
  Work& work = shared_->work;
  Result<NamedValues> outcome = NamedValues{};
  try {
    std::optional<NamedValues> outputs = work.followed();
    if (!outputs) return Process::spawn(shared_, true);
    outcome = *std::move(outputs);
  } catch (...) {
    outcome = error_from_current_exception("onnx.run");
  }
  work = {};  // what it holds of the run goes before anybody hears of the outcome
  // The waiter holds a reference, too. Nobody is there to be told if the executor has ended meanwhile.
  if (const RunPtr run = shared_->take_run()) run->complete(std::move(outcome));
}

}  // namespace stoker::onnx
