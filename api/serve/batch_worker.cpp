#include "stoker/api/serve/batch_worker.hpp"

#include "stoker/api/serve/batch_notice.hpp"
#include "stoker/api/serve/batcher.hpp"

namespace stoker::serve {

void BatchWorker::on(const RunBatch& run) {
  try {
    const Future<BatchOutputs> outcome = runner_->run(run.batch, run.cancel);
    if (run.batch->pieces.size() == 1) run.batch->pieces.front().call->set_work(outcome.state());
    BatchNotice::send(batcher_, cell()->id(), outcome);
  } catch (const Error& error) {
    static_cast<void>(batcher_.cast(BatchEnded{cell()->id(), error}, Run::here));
  }
}

}  // namespace stoker::serve
