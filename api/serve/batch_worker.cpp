#include "stoker/api/serve/batch_worker.hpp"

#include "stoker/api/serve/batch_notice.hpp"
#include "stoker/api/serve/batcher.hpp"

namespace stoker::serve {
namespace {

/// Returns the outcome, of which the batcher will hear.
Future<BatchOutputs> start(const BatchRunner& runner, const ActorRef<Batcher>& batcher,
                           const std::shared_ptr<RunningBatch>& running) {
  const Batch& batch = running->batch();
  Future<BatchOutputs> outcome;
  try {
    const CancelToken cancel = running->cancel().token();
    cancel.check();  // it may have waited for a thread until nobody waits for it
    outcome = runner.run({running, &batch}, cancel);
    if (batch.pieces.size() == 1) batch.pieces.front().call->set_work(outcome.state());
  } catch (const Error& error) {
    outcome = make_ready_future<BatchOutputs>(error);
  }
  BatchNotice::send(batcher, running, outcome);
  return outcome;
}

}  // namespace

void BatchWorker::on(const RunBatch& run) {
  if (run.batch->is_new() && start_elsewhere(run)) return;
  static_cast<void>(start(*runner_, batcher_, run.batch));
}

bool BatchWorker::start_elsewhere(const RunBatch& run) {
  if (!starter_) return false;
  try {
    static_cast<void>(starter_->run(
        [runner = runner_, batcher = batcher_, batch = run.batch, worker = self<BatchWorker>()] {
          try {
            // The next one starts after its end: an executor of two threads has one left for actors.
            static_cast<void>(start(*runner, batcher, batch).wait());
          } catch (...) {
            static_cast<void>(worker.cast(StartThrew{std::current_exception()}));
          }
        }));
    return true;
  } catch (const Error&) {  // no thread is to be had: better late than not at all
    return false;
  }
}

}  // namespace stoker::serve
