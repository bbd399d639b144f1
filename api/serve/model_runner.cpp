#include "stoker/api/serve/model_runner.hpp"

#include <algorithm>
#include <iterator>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/reply_promise.hpp"
#include "stoker/api/serve/row_memory.hpp"
#include "stoker/api/tensor/core/transfer.hpp"

namespace stoker::serve {
namespace {

std::vector<Tensor> tensors_of(const NamedValues& values) {
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : values)
    value.visit_cells([&](const auto& cell) { tensors.push_back(cell->tensor); });
  return tensors;
}

/// Ready with the outputs of a batch once their tensors are computed. It publishes in place, without a task.
class Computed final : public FutureState<BatchOutputs>, private Waiter {
 public:
  Computed(Future<> done, BatchOutputs outputs)
      : done_{std::move(done)}, outputs_{std::move(outputs)} {}
  void start() noexcept {
    intrusive_ptr_add_ref(this);  // until it is woken
    done_.on_ready(*this);
  }
  void assist(time_point deadline) noexcept override { done_.state()->assist(deadline); }

 private:
  void wake() noexcept override {
    const boost::intrusive_ptr<Computed> self{this, false};
    const Result<void>& done = *done_.poll();
    complete(done ? Result<BatchOutputs>{std::move(outputs_)} : Result<BatchOutputs>{done.error()});
  }
  const Future<> done_;
  BatchOutputs outputs_;
};

Future<BatchOutputs> when_computed(const std::vector<Tensor>& tensors, BatchOutputs outputs,
                                   const CommandOptions& limits) {
  if (tensors.empty()) return make_ready_future<BatchOutputs>(std::move(outputs));
  const boost::intrusive_ptr<Computed> state{
      new Computed{computed(tensors, limits), std::move(outputs)}};  // NOLINT: counted
  state->start();
  return Future<BatchOutputs>{state};
}

}  // namespace

Future<BatchOutputs> ModelRunner::run(const std::shared_ptr<const Batch>& batch,
                                      const CancelToken& cancel) const {
  const DeviceScope scope{model_.device()};
  const PredictOptions options{.limits = {.cancel = cancel}};
  const Future<NamedValues> predicted = model_.predict(inputs_of(*batch), options);
  if (const Result<NamedValues>* const at_once = predicted.poll())
    return finish(*batch, at_once->value(), options.limits);
  auto answer = std::make_shared<ReplyPromise<BatchOutputs>>();
  Future<BatchOutputs> future = answer->future();
  static_cast<void>(predicted.then(model_.device().client()->executor(),
                                   [self = shared_from_this(), batch, answer,
                                    limits = options.limits](const Result<NamedValues>& outputs) {
                                     try {
                                       std::move(*answer).follow(
                                           self->finish(*batch, outputs.value(), limits));
                                     } catch (...) {
                                       answer->set(error_from_current_exception("serving"));
                                     }
                                   }));
  return future;
}

Future<BatchOutputs> ModelRunner::finish(const Batch& batch, const NamedValues& outputs,
                                         const CommandOptions& limits) const {
  const DeviceScope scope{model_.device()};
  auto all = std::make_shared<std::vector<NamedValues>>();
  std::vector<Tensor> tensors = tensors_of(outputs);
  if (batch.pieces.size() == 1 && batch.size == batch.rows) {
    all->push_back(outputs);
  } else {
    eval(tensors, limits);  // as one program, before the copies ask for its results one by one
    *all = cut(batch, outputs);
    tensors.clear();
    for (const NamedValues& one : *all)
      std::ranges::move(tensors_of(one), std::back_inserter(tensors));
  }
  return when_computed(tensors, std::move(all), limits);
}

NamedValues ModelRunner::inputs_of(const Batch& batch) const {
  const std::vector<onnx::ValueInfo>& inputs = model_.inputs();
  const Piece& first = batch.pieces.front();
  const onnx::Values& values = first.call->request().values;
  NamedValues joined;
  const bool as_it_is = batch.pieces.size() == 1 && first.is_whole() && batch.size == batch.rows;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!values[i].is_given()) continue;
    if (as_it_is) {
      joined.emplace(inputs[i].name, values[i]);
      continue;
    }
    const std::size_t axis = layout_.input_axis(i);
    const Tensor one = values[i].tensor();
    RowMemory memory{model_.device(), {one.dtype(), one.shape().with(axis, batch.size)}, axis};
    std::int64_t row = 0;
    for (const Piece& piece : batch.pieces) {
      memory.put(row, piece.call->request().values[i].tensor(), piece.first_row, piece.rows);
      row += piece.rows;
    }
    memory.repeat_last(row);
    joined.emplace(inputs[i].name, onnx::Value{memory.tensor(), values[i].type()});
  }
  return joined;
}

std::vector<NamedValues> ModelRunner::cut(const Batch& batch, const NamedValues& outputs) const {
  std::vector<NamedValues> all(batch.pieces.size());
  for (const auto& [name, value] : outputs) {
    const std::size_t axis = layout_.output_axis(name);
    const Tensor whole = value.tensor();
    if (whole.shape().rank() <= axis || whole.shape()[axis] != batch.size)
      throw Error{"serving",
                  ErrorCode::shape_mismatch,
                  "output '" + name + "' has not as many rows as its batch",
                  {{"output", name},
                   {"rows", std::to_string(batch.size)},
                   {"came", whole.shape().to_string()}}};
    std::int64_t row = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::int64_t rows = batch.pieces[i].rows;
      all[i].emplace(name, onnx::Value{copied_rows(whole, axis, row, rows), value.type()});
      row += rows;
    }
  }
  return all;
}

NamedValues ModelRunner::join(std::vector<Part> parts) const {
  NamedValues joined;
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.rows;
  for (const auto& [name, value] : parts.front().outputs) {
    const std::size_t axis = layout_.output_axis(name);
    const Tensor first = value.tensor();
    RowMemory memory{model_.device(), {first.dtype(), first.shape().with(axis, rows)}, axis};
    for (const Part& part : parts)
      memory.put(part.first_row, part.outputs.at(name).tensor(), 0, part.rows);
    joined.emplace(name, onnx::Value{memory.tensor(), value.type()});
  }
  return joined;
}

}  // namespace stoker::serve
