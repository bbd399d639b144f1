// Turns calls a script has not run into pipelines, and runs them.
//
// Calls are collected back from the values that are needed, cut into graphs of at most
// `max_stages`, compiled once per structure (PipelineCache) and run. Values in
// between live in the pipeline's own memory; one that a second evaluation needs again gets a buffer
// then, so nothing is computed more than twice.
//
// Threads: the script's process only. Waiting parks it, until the script is cancelled.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/pipeline/script/run/flights.hpp"
#include "stoker/pipeline/script/run/lazy_value.hpp"
#include "stoker/pipeline/script/run/pipeline_cache.hpp"

namespace stoker::script {

/// The script's garbage collector: a small object in Lua may hold much memory on the device.
class GarbageCollector {
 public:
  /// Collects in proportion to device memory that was taken.
  virtual void step(std::size_t bytes) = 0;
  /// Collects everything.
  virtual void collect() = 0;

 protected:
  ~GarbageCollector() = default;
};

class Evaluator {
 public:
  static constexpr std::size_t max_stages = 512;

  Evaluator(std::shared_ptr<DeviceClient> device, Budget& budget, GarbageCollector& garbage,
            ScriptObserver* observer);

  /// A call of a kernel on values: its outputs' specs are known, nothing runs yet. Errors: what
  /// Kernel::check says, budget_exceeded.
  [[nodiscard]] Result<std::vector<LazyPtr>> call(std::shared_ptr<const Kernel> kernel,
                                                  std::vector<LazyPtr> inputs, Params params,
                                                  int line);
  /// Memory outside of the Lua state and of the device for a while, garbage collected if need be.
  /// Errors: budget_exceeded, which the script may catch.
  [[nodiscard]] Result<MemoryLoan> lend(std::size_t bytes);
  /// Whether there is room for a buffer of that size, garbage collected if need be: to be asked before
  /// its contents are made. Errors: budget_exceeded.
  [[nodiscard]] Result<void> room_for_buffer(std::size_t bytes);
  /// The same memory until Budget::give_memory(). Errors: budget_exceeded, and the script must end.
  [[nodiscard]] Result<void> take_memory(std::size_t bytes);
  /// A buffer with the given contents.
  [[nodiscard]] Result<LazyPtr> constant(const TensorSpec& spec, std::span<const std::byte> bytes);
  /// A number that a call was given; the last ones share their buffers.
  [[nodiscard]] Result<LazyPtr> scalar(DType dtype, std::span<const std::byte> bytes);

  /// Starts what the values need; they have buffers afterwards.
  [[nodiscard]] Result<void> evaluate(std::span<const LazyPtr> values);
  /// evaluate(), and waits until they are there.
  [[nodiscard]] Result<void> wait(std::span<const LazyPtr> values);
  /// evaluate(), and the bytes from `offset` on.
  [[nodiscard]] Result<std::vector<std::byte>> read(const LazyPtr& value, std::size_t offset,
                                                    std::size_t bytes);
  /// Waits for everything that was started; the first failure that the script was not told of.
  [[nodiscard]] Result<void> finish();
  /// Cancels everything that was started and not waited for.
  void abandon(const Error& why);

  [[nodiscard]] const std::shared_ptr<DeviceClient>& device() const noexcept { return device_; }
  /// What has run so far.
  [[nodiscard]] ScriptReport report() const;

 private:
  [[nodiscard]] Result<void> run(std::span<LazyCall* const> calls, std::span<LazyCall* const> later,
                                 std::span<const LazyPtr> wanted);
  [[nodiscard]] Result<void> make_buffer(LazyValue& value,
                                         const std::span<const std::byte>* contents);
  /// False: the script was cancelled first.
  [[nodiscard]] bool wait_until_ready(FutureCore& future);
  [[nodiscard]] Result<std::shared_ptr<CompiledPipeline>> pipeline_of(const EvaluationPlan& plan);
  [[nodiscard]] Result<void> wait_for_oldest();
  /// For one more evaluation that holds `bytes`.
  [[nodiscard]] Result<void> wait_for_room(std::size_t bytes);
  [[nodiscard]] Result<void> wait_for(const CommandPtr& command);
  [[nodiscard]] Error cancelled();

  const std::shared_ptr<DeviceClient> device_;
  Budget& budget_;
  GarbageCollector& garbage_;
  ScriptReport report_;
  std::size_t pressure_ = 0;  ///< bytes taken on the device since the last step of the collector
  Flights flights_;
  Failures failures_;
  PipelineCache pipelines_;
  std::list<std::pair<std::string, LazyPtr>> scalars_;  // newest first
};

}  // namespace stoker::script
