#include "stoker/api/serve/grpc/unary_call.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace stoker::serve::grpc {

std::optional<std::chrono::microseconds> time_left(const ::grpc::CallbackServerContext& context) {
  using SystemClock = std::chrono::system_clock;
  const SystemClock::time_point deadline = context.deadline();
  // gRPC's "never" is the clock's last moment, or near it.
  if (deadline > SystemClock::now() + std::chrono::hours{24 * 365 * 10}) return {};
  return std::max(
      std::chrono::duration_cast<std::chrono::microseconds>(deadline - SystemClock::now()),
      std::chrono::microseconds{1});
}

::grpc::Status status_of(const GrpcAnswer& answer, ::grpc::CallbackServerContext& context) {
  if (answer.retry_after_ms > 0)
    context.AddTrailingMetadata("grpc-retry-pushback-ms", std::to_string(answer.retry_after_ms));
  return {answer.code, answer.text};
}

::grpc::ServerGenericBidiReactor* UnaryCall::start(std::shared_ptr<GrpcService> service,
                                                   ::grpc::GenericCallbackServerContext& context,
                                                   Method method) {
  std::unique_ptr<UnaryCall> call{new UnaryCall{std::move(service), context, method}};  // NOLINT
  call->StartRead(&call->message_);
  return call.release();  // OnDone() deletes it
}

/// Held by whoever still has the answer to give. Without an answer its end finishes the call; with one it does not
/// touch the call any more, which gRPC may have ended meanwhile.
class UnaryCall::Lease {
 public:
  explicit Lease(UnaryCall& call) noexcept : call_{&call} {}
  ~Lease() {
    if (call_ != nullptr)
      finish({.code = ::grpc::StatusCode::UNAVAILABLE, .text = "the server is ending"});
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  void finish(const GrpcAnswer& answer) {
    if (UnaryCall* const call = std::exchange(call_, nullptr)) call->finish(answer);
  }

 private:
  UnaryCall* call_;
};

void UnaryCall::OnReadDone(bool ok) {
  if (!ok) return finish({.code = ::grpc::StatusCode::INVALID_ARGUMENT, .text = "no message came"});
  auto lease = std::make_shared<Lease>(*this);
  // Parts of a large message are joined first, which is not for gRPC's threads.
  if (message_.Length() <= InferCall<InferForm>::small_message) return run(std::move(lease));
  try {
    static_cast<void>(service_->pool().run([this, lease] { run(lease); }));
  } catch (const Error& error) {
    lease->finish(*answer_of(failure_of(error, {})));
  }
}

void UnaryCall::run(std::shared_ptr<Lease> lease) {
  ReceivedMessage message{std::exchange(message_, {})};
  const Future<GrpcAnswerPtr> work =
      service_->answer(method_, std::move(message), time_left(context_));
  bool cancelled = false;
  {
    const std::lock_guard lock{mutex_};
    work_ = work;
    cancelled = cancelled_;
  }
  if (cancelled) work.cancel();
  static_cast<void>(work.then(service_->executor(),
                              [lease = std::move(lease)](const Result<GrpcAnswerPtr>& answer) {
                                if (answer)
                                  lease->finish(**answer);
                                else
                                  lease->finish(*answer_of(failure_of(answer.error(), {})));
                              }));
}

void UnaryCall::OnCancel() {
  Future<GrpcAnswerPtr> work;
  {
    const std::lock_guard lock{mutex_};
    cancelled_ = true;
    work = work_;
  }
  if (work.valid()) work.cancel();
}

void UnaryCall::finish(const GrpcAnswer& answer) {
  {
    const std::lock_guard lock{mutex_};
    work_ = {};
  }
  if (answer.code != ::grpc::StatusCode::OK) return Finish(status_of(answer, context_));
  message_ = buffer_of(answer.message);
  StartWriteAndFinish(&message_, {}, ::grpc::Status::OK);
}

}  // namespace stoker::serve::grpc
