// The actor that starts batches; a child of the serving's supervisor. The batcher gives it one at a time, and hears of
// the end from the batch itself (batch_notice.hpp).
//
// An Error of the runner fails the batch. Any other exception ends the worker: its supervisor starts another, and the
// batcher, which monitors it, answers or repeats the batch.
#pragma once

#include <memory>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/api/serve/batch_queue.hpp"
#include "stoker/runtime/futures/cancel_token.hpp"

namespace stoker::serve {

class Batcher;

/// The outputs of each piece of a batch, in order. Shared, so that they are moved and not copied.
using BatchOutputs = std::shared_ptr<std::vector<NamedValues>>;

/// Computes batches. Threads: any, several batches at once.
class BatchRunner {
 public:
  BatchRunner() = default;
  virtual ~BatchRunner() = default;
  BatchRunner(const BatchRunner&) = delete;
  BatchRunner& operator=(const BatchRunner&) = delete;

  /// Starts the batch and does not wait. It reads the inputs of calls before it returns, and not later: then a call may
  /// have been answered. `cancel` ends it once nobody waits for its outcome.
  [[nodiscard]] virtual Future<BatchOutputs> run(const std::shared_ptr<const Batch>& batch,
                                                 const CancelToken& cancel) const = 0;
  /// The outputs of a call whose rows ran in these parts, in order of rows.
  [[nodiscard]] virtual NamedValues join(std::vector<Part> parts) const = 0;
};

struct RunBatch {
  std::shared_ptr<const Batch> batch;
  CancelToken cancel;
};

class BatchWorker : public Actor {
 public:
  BatchWorker(std::shared_ptr<const BatchRunner> runner, ActorRef<Batcher> batcher)
      : runner_{std::move(runner)}, batcher_{std::move(batcher)} {}

  void on(const RunBatch& run);

 private:
  const std::shared_ptr<const BatchRunner> runner_;
  const ActorRef<Batcher> batcher_;
};

}  // namespace stoker::serve
