#include "stoker/api/serve/grpc/stream_call.hpp"

#include <utility>
#include <vector>

#include "stoker/api/serve/grpc/messages.hpp"
#include "stoker/api/serve/grpc/unary_call.hpp"

namespace stoker::serve::grpc {

::grpc::ServerGenericBidiReactor* StreamCall::start(std::shared_ptr<GrpcService> service,
                                                    ::grpc::GenericCallbackServerContext& context,
                                                    std::size_t requests_ahead) {
  std::unique_ptr<StreamCall> call{// NOLINTNEXTLINE: its constructor is private
                                   new StreamCall{std::move(service), context, requests_ahead}};
  call->StartRead(&call->incoming_);
  return call.release();  // OnDone() deletes it
}

void StreamCall::OnReadDone(bool ok) {
  if (!ok) {
    Next then;
    {
      const std::lock_guard lock{mutex_};
      reading_ = false;
      all_read_ = true;
      then = next();
    }
    return take(then);
  }
  ReceivedMessage message{std::exchange(incoming_, {})};
  const auto request = std::make_shared<Request>();
  {
    const std::lock_guard lock{mutex_};
    reading_ = false;
    requests_.push_back(request);
  }
  run(request, std::move(message));
}

/// Held by whoever still has the answer of a request to give; the stream lives until then. Without an answer its end
/// answers the request; with one it does not touch the stream any more, which may have ended.
class StreamCall::Lease {
 public:
  Lease(StreamCall& call, RequestPtr request) noexcept
      : call_{&call}, request_{std::move(request)} {}
  ~Lease() {
    if (call_ != nullptr)
      answer(status_answer(::grpc::StatusCode::UNAVAILABLE, "the server is ending"));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  void answer(GrpcAnswerPtr given) {
    if (StreamCall* const call = std::exchange(call_, nullptr))
      call->answered(request_, std::move(given));
  }

 private:
  StreamCall* call_;
  const RequestPtr request_;
};

void StreamCall::run(const RequestPtr& request, ReceivedMessage message) {
  const auto lease = std::make_shared<Lease>(*this, request);
  const Future<GrpcAnswerPtr> work =
      service_->answer(Method::model_infer, std::move(message), time_left(context_));
  bool cancelled = false;
  Next then;
  {
    const std::lock_guard lock{mutex_};
    request->work = work;
    cancelled = broken_;
    then = next();  // perhaps the next message may be read
  }
  if (cancelled) work.cancel();
  static_cast<void>(work.then(service_->executor(), [lease](const Result<GrpcAnswerPtr>& answer) {
    lease->answer(answer ? *answer : answer_of(failure_of(answer.error(), {})));
  }));
  take(then);
}

void StreamCall::answered(const RequestPtr& request, GrpcAnswerPtr answer) {
  Next then;
  {
    const std::lock_guard lock{mutex_};
    request->answer = std::move(answer);
    request->work = {};
    then = next();
  }
  take(then);
}

void StreamCall::OnWriteDone(bool ok) {
  Next then;
  {
    const std::lock_guard lock{mutex_};
    writing_ = false;
    requests_.pop_front();
    if (!ok) broken_ = true;
    then = next();
  }
  if (!ok) cancel_all();
  take(then);
}

void StreamCall::OnCancel() {
  {
    const std::lock_guard lock{mutex_};
    broken_ = true;
  }
  cancel_all();
}

void StreamCall::cancel_all() {
  std::vector<Future<GrpcAnswerPtr>> works;
  {
    const std::lock_guard lock{mutex_};
    works.reserve(requests_.size());
    for (const RequestPtr& one : requests_)
      if (one->work.valid()) works.push_back(one->work);
  }
  for (const Future<GrpcAnswerPtr>& work : works) work.cancel();
}

StreamCall::Next StreamCall::next() {
  Next next;
  if (broken_)  // what was answered is not written any more
    while (!writing_ && !requests_.empty() && requests_.front()->answer) requests_.pop_front();
  if (!writing_ && !requests_.empty() && requests_.front()->answer) {
    const GrpcAnswer& answer = *requests_.front()->answer;
    outgoing_ = buffer_of(answer.code == ::grpc::StatusCode::OK ? stream_response(answer.message)
                                                                : stream_error(answer.text));
    writing_ = next.write = true;
  }
  if (!reading_ && !all_read_ && !broken_ && requests_.size() < requests_ahead_)
    reading_ = next.read = true;
  if (!reading_ && !writing_ && requests_.empty() && (all_read_ || broken_) && !finished_)
    finished_ = next.finish = true;
  next.cancelled = broken_;
  return next;
}

void StreamCall::take(const Next& next) {
  if (next.read) StartRead(&incoming_);
  if (next.write) StartWrite(&outgoing_);
  if (next.finish)
    Finish(next.cancelled
               ? ::grpc::Status{::grpc::StatusCode::CANCELLED, "the stream was cancelled"}
               : ::grpc::Status::OK);
}

}  // namespace stoker::serve::grpc
