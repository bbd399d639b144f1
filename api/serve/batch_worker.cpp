#include "stoker/api/serve/batch_worker.hpp"

#include "stoker/api/serve/batcher.hpp"

namespace stoker::serve {

void BatchWorker::on(const RunBatch& run) {
  try {
    then(runner_->run(run.batch, run.cancel),
         [this](const Result<BatchOutputs>& outcome) { finish(outcome); });
  } catch (const Error& error) {
    finish(error);
  }
}

void BatchWorker::finish(Result<BatchOutputs> outcome) {
  static_cast<void>(batcher_.cast(BatchEnded{cell()->id(), std::move(outcome)}, Run::here));
}

}  // namespace stoker::serve
