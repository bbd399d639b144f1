// Runs batches on a model: joins the rows of the requests, predicts, and cuts the results.
//
// A batch of one whole request is passed on as it is. In any other batch each request gets memory of its own for its
// results, so nobody's slow reading keeps the results of others alive.
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
  [[nodiscard]] Clock::time_point now() const;
  [[nodiscard]] NamedValues inputs_of(const Batch& batch) const;
  /// What run() gives for these outputs of the model, which may still be lazy.
  [[nodiscard]] Future<BatchOutputs> finish(const std::shared_ptr<const Batch>& batch,
                                            const NamedValues& outputs,
                                            const CommandOptions& limits) const;
  /// Throws shape_mismatch for an output whose rows are not those of the batch.
  void check_rows(const Batch& batch, const NamedValues& outputs) const;
  /// The outputs of pieces of so many rows; `bytes`: the elements of each output.
  [[nodiscard]] BatchOutputs cut(const std::vector<std::int64_t>& rows, const NamedValues& outputs,
                                 const std::vector<std::vector<std::byte>>& bytes) const;

  const AnyModel model_;
  const RowLayout layout_;
};

}  // namespace stoker::serve
