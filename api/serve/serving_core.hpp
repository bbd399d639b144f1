// What the handles of a serving share, and the actors that it consists of:
//
//     serving (supervisor) ─ worker 1 … worker n, batcher
//
// The batcher starts last, so it is stopped first: then calls that wait are told at once, and the workers are still
// there for the batches that run. If it ends, its supervisor ends, too.
//
// Threads: any. Errors are thrown.
#pragma once

#include <memory>

#include "stoker/actors/supervisor/supervisor.hpp"
#include "stoker/api/serve/batcher.hpp"
#include "stoker/api/serve/serving.hpp"

namespace stoker::serve {

class ServingCore {
 public:
  /// Spawns the batcher. `options` are checked; `submit`: where its turns may run; `starter`: a thread that starts
  /// batches whose plan may have to be made, none if null.
  ServingCore(std::shared_ptr<Executor> executor, AnyModel model, RowLayout layout,
              std::shared_ptr<const BatchRunner> runner, const ServingOptions& options,
              Run submit = Run::here, std::shared_ptr<BlockingPool> starter = nullptr);

  /// The serving's supervisor, as a child that is not restarted.
  [[nodiscard]] ChildSpec child_spec() const;
  /// It was started as this actor.
  void set_supervisor(ActorAddress supervisor) { supervisor_ = std::move(supervisor); }
  [[nodiscard]] const ActorAddress& supervisor() const noexcept { return supervisor_; }
  [[nodiscard]] const ActorRef<Batcher>& batcher() const noexcept { return batcher_; }
  [[nodiscard]] const AnyModel& model() const noexcept { return model_; }
  [[nodiscard]] const RowLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] const ServingOptions& options() const noexcept { return options_; }
  [[nodiscard]] const KeyedAdmission& admission() const noexcept { return *admission_; }

  [[nodiscard]] Future<NamedValues> run(const NamedValues& inputs,
                                        const ServingRequestOptions& options) const;

 private:
  /// The positions of a request's key and level. Throws not_found and invalid_argument.
  [[nodiscard]] std::size_t key_of(const ServingRequestOptions& options) const;
  [[nodiscard]] std::size_t level_of(const ServingRequestOptions& options) const;

  const std::shared_ptr<Executor> executor_;
  const AnyModel model_;
  const RowLayout layout_;
  const std::shared_ptr<const BatchRunner> runner_;
  const ServingOptions options_;
  const Run submit_;
  const std::shared_ptr<BlockingPool> starter_;
  const std::shared_ptr<const KeyedAdmission> admission_;
  const ActorRef<Batcher> batcher_;
  ActorAddress supervisor_;
};

/// Throws invalid_argument for options that are out of their range. Sorts `sizes`, and makes the priority level and the
/// key that are meant if none are given.
[[nodiscard]] ServingOptions checked(ServingOptions options);

}  // namespace stoker::serve
