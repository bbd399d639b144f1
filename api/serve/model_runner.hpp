// Runs batches on a model: joins the rows of the requests, predicts, and cuts the results.
//
// Rows are copied by the device, so nothing waits for them. A batch of one whole request is passed on as it is. In any
// other batch each request gets memory of its own for its results, so nobody's slow reading keeps the results of
// others alive.
//
// Threads: any.
#pragma once

#include <memory>

#include "stoker/api/serve/batch_worker.hpp"
#include "stoker/api/serve/row_layout.hpp"

namespace stoker::serve {

class ModelRunner final : public BatchRunner, public std::enable_shared_from_this<ModelRunner> {
 public:
  ModelRunner(AnyModel model, RowLayout layout)
      : model_{std::move(model)}, layout_{std::move(layout)} {}

  /// Throws the errors of AnyModel::predict(), and out_of_memory.
  [[nodiscard]] Future<BatchOutputs> run(const std::shared_ptr<const Batch>& batch,
                                         const CancelToken& cancel) const override;
  [[nodiscard]] NamedValues join(std::vector<Part> parts) const override;

 private:
  [[nodiscard]] NamedValues inputs_of(const Batch& batch) const;
  [[nodiscard]] Future<BatchOutputs> finish(const Batch& batch, const NamedValues& outputs,
                                            const CommandOptions& limits) const;
  [[nodiscard]] std::vector<NamedValues> cut(const Batch& batch, const NamedValues& outputs) const;

  const AnyModel model_;
  const RowLayout layout_;
};

}  // namespace stoker::serve
