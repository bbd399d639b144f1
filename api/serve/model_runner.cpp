#include "stoker/api/serve/model_runner.hpp"

#include "stoker/actors/device/device_client.hpp"
#include "stoker/actors/reply_promise.hpp"
#include "stoker/api/serve/row_memory.hpp"
#include "stoker/api/tensor/core/transfer.hpp"
#include "stoker/runtime/futures/when.hpp"

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
  Computed(std::vector<Future<>> each, BatchOutputs outputs)
      : each_{std::move(each)}, done_{when_all(each_)}, outputs_{std::move(outputs)} {}
  void start() noexcept {
    intrusive_ptr_add_ref(this);  // until it is woken
    done_.on_ready(*this);
  }
  void assist(time_point deadline) noexcept override {
    for (const Future<>& one : each_)
      if (!one.ready()) one.state()->assist(deadline);
  }

 private:
  void wake() noexcept override {
    const boost::intrusive_ptr<Computed> self{this, false};
    const Result<void>& done = *done_.poll();
    complete(done ? Result<BatchOutputs>{std::move(outputs_)} : Result<BatchOutputs>{done.error()});
  }
  const std::vector<Future<>> each_;
  const Future<> done_;
  BatchOutputs outputs_;
};

Future<BatchOutputs> when_computed(const std::vector<Tensor>& tensors, BatchOutputs outputs,
                                   const CommandOptions& limits) {
  if (tensors.empty()) return make_ready_future<BatchOutputs>(std::move(outputs));
  eval(tensors, limits);
  std::vector<Future<>> each;
  for (const Tensor& tensor : tensors) each.push_back(tensor.computed());
  const boost::intrusive_ptr<Computed> state{
      new Computed{std::move(each), std::move(outputs)}};  // NOLINT: counted
  state->start();
  return Future<BatchOutputs>{state};
}

}  // namespace

Future<BatchOutputs> ModelRunner::run(const std::shared_ptr<const Batch>& batch,
                                      const CancelToken& cancel) const {
  const DeviceScope scope{model_.device()};
  const PredictOptions options{.limits = {.cancel = cancel}};
  const NamedValues inputs = inputs_of(*batch);
  batch->moments.joined = now();
  const Future<NamedValues> predicted = model_.predict(inputs, options);
  if (const Result<NamedValues>* const at_once = predicted.poll())
    return finish(batch, at_once->value(), options.limits);
  auto answer = std::make_shared<ReplyPromise<BatchOutputs>>();
  Future<BatchOutputs> future = answer->future();
  static_cast<void>(predicted.then(model_.device().client()->executor(),
                                   [self = shared_from_this(), batch, answer,
                                    limits = options.limits](const Result<NamedValues>& outputs) {
                                     try {
                                       std::move(*answer).follow(
                                           self->finish(batch, outputs.value(), limits));
                                     } catch (...) {
                                       answer->set(error_from_current_exception("serving"));
                                     }
                                   }));
  return future;
}

Future<BatchOutputs> ModelRunner::finish(const std::shared_ptr<const Batch>& batch,
                                         const NamedValues& outputs,
                                         const CommandOptions& limits) const {
  const DeviceScope scope{model_.device()};
  if (batch->pieces.size() == 1 && batch->size == batch->rows)
    return when_computed(tensors_of(outputs),
                         std::make_shared<std::vector<NamedValues>>(1, outputs), limits);
  check_rows(*batch, outputs);
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : outputs) tensors.push_back(value.tensor());
  eval(tensors, limits);  // as one program, before their elements are asked for one by one
  std::vector<Future<std::vector<std::byte>>> reads;
  for (const Tensor& tensor : tensors) reads.push_back(tensor.buffer().read_bytes(limits));
  std::vector<std::int64_t> rows;
  rows.reserve(batch->pieces.size());
  for (const Piece& piece : batch->pieces) rows.push_back(piece.rows);
  // A call may keep this future, and the future keeps the function: the function must not keep the calls of the batch,
  // nor the outputs once they are cut.
  return when_all(std::move(reads))
      .then(model_.device().client()->executor(),
            [self = shared_from_this(), rows = std::move(rows), moments = std::weak_ptr{batch},
             left = outputs](const Result<std::vector<std::vector<std::byte>>>& bytes) mutable {
              const NamedValues whole = std::exchange(left, {});
              if (!bytes) return Result<BatchOutputs>{bytes.error()};
              if (const auto batch = moments.lock()) batch->moments.computed = self->now();
              return Result<BatchOutputs>{self->cut(rows, whole, *bytes)};
            });
}

Clock::time_point ModelRunner::now() const {
  return model_.device().client()->executor().clock().now();
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
    std::vector<RowsOf> parts;
    parts.reserve(batch.pieces.size());
    for (const Piece& piece : batch.pieces)
      parts.push_back({&piece.call->request().values[i], piece.first_row, piece.rows});
    const DType dtype =
        values[i].is_known() ? values[i].known().spec().dtype : values[i].tensor().dtype();
    const TensorSpec spec{dtype, values[i].shape().with(axis, batch.size)};
    joined.emplace(inputs[i].name,
                   onnx::Value{joined_rows(model_.device(), spec, axis, parts), values[i].type()});
  }
  return joined;
}

void ModelRunner::check_rows(const Batch& batch, const NamedValues& outputs) const {
  for (const auto& [name, value] : outputs) {
    const std::size_t axis = layout_.output_axis(name);
    if (value.is_tensor() && value.shape().rank() > axis && value.shape()[axis] == batch.size)
      continue;
    throw Error{
        "serving",
        ErrorCode::shape_mismatch,
        "output '" + name + "' has not as many rows as its batch",
        {{"output", name}, {"rows", std::to_string(batch.size)}, {"came", value.to_string()}}};
  }
}

BatchOutputs ModelRunner::cut(const std::vector<std::int64_t>& rows, const NamedValues& outputs,
                              const std::vector<std::vector<std::byte>>& bytes) const {
  auto all = std::make_shared<std::vector<NamedValues>>(rows.size());
  auto elements = bytes.begin();
  for (const auto& [name, value] : outputs) {
    const std::vector<Tensor> each = cut_rows(model_.device(), value.tensor().spec(),
                                              layout_.output_axis(name), *elements++, rows);
    for (std::size_t i = 0; i < each.size(); ++i)
      (*all)[i].emplace(name, onnx::Value{each[i], value.type()});
  }
  return all;
}

NamedValues ModelRunner::join(std::vector<Part> parts) const {
  NamedValues joined;
  std::int64_t rows = 0;
  for (const Part& part : parts) rows += part.rows;
  for (const auto& [name, value] : parts.front().outputs) {
    const std::size_t axis = layout_.output_axis(name);
    std::vector<RowsOf> all;
    for (const Part& part : parts) all.push_back({&part.outputs.at(name), 0, part.rows});
    const TensorSpec spec{value.tensor().dtype(), value.shape().with(axis, rows)};
    joined.emplace(name, onnx::Value{joined_rows(model_.device(), spec, axis, all), value.type()});
  }
  return joined;
}

}  // namespace stoker::serve
