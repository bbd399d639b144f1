// The actor that starts batches; a child of the serving's supervisor. The batcher gives it one at a time, and hears of
// the end from the batch itself (batch_notice.hpp).
//
// A batch whose plan may have to be made is started by a thread of the serving's own, one at a time: that may take
// seconds, in which no actor's turn may wait for it.
//
// An Error of the runner fails the batch. Any other exception ends the worker: its supervisor starts another, and the
// batcher, which monitors it, answers or repeats the batch.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include "stoker/actors/actor.hpp"
#include "stoker/api/serve/running_batch.hpp"
#include "stoker/runtime/futures/blocking_pool.hpp"
#include "stoker/runtime/futures/cancel_token.hpp"

namespace stoker::serve {

class Batcher;

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
  std::shared_ptr<RunningBatch> batch;
};
/// Its start on another thread has thrown what ends a worker.
struct StartThrew {
  std::exception_ptr what;
};

class BatchWorker : public Actor {
 public:
  /// `starter`: a thread that may wait; null: there is none.
  BatchWorker(std::shared_ptr<const BatchRunner> runner, ActorRef<Batcher> batcher,
              std::shared_ptr<BlockingPool> starter)
      : runner_{std::move(runner)}, batcher_{std::move(batcher)}, starter_{std::move(starter)} {}

  void on(const RunBatch& run);
  [[noreturn]] void on(const StartThrew& threw) { std::rethrow_exception(threw.what); }

 private:
  [[nodiscard]] bool start_elsewhere(const RunBatch& run);

  const std::shared_ptr<const BatchRunner> runner_;
  const ActorRef<Batcher> batcher_;
  const std::shared_ptr<BlockingPool> starter_;
};

}  // namespace stoker::serve
