// A call of gRPC with one request and one answer.
//
// Threads: reactions come on gRPC's threads, the answer on the executor's. Lifetime: it ends itself when gRPC says that
// the call is done, which is after Finish(); whoever still has the answer to give holds a Lease, whose end without an
// answer finishes the call.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <memory>
#include <mutex>

#include "stoker/api/serve/grpc/grpc_service.hpp"

namespace stoker::serve::grpc {

/// Until the deadline of the call, if it has one; at least a microsecond.
[[nodiscard]] std::optional<std::chrono::microseconds> time_left(
    const ::grpc::CallbackServerContext& context);
[[nodiscard]] ::grpc::Status status_of(const GrpcAnswer& answer,
                                       ::grpc::CallbackServerContext& context);

class UnaryCall final : public ::grpc::ServerGenericBidiReactor {
 public:
  /// Starts the call; it deletes itself.
  static ::grpc::ServerGenericBidiReactor* start(std::shared_ptr<GrpcService> service,
                                                 ::grpc::GenericCallbackServerContext& context,
                                                 Method method);

  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { const std::unique_ptr<UnaryCall> self{this}; }

 private:
  UnaryCall(std::shared_ptr<GrpcService> service, ::grpc::GenericCallbackServerContext& context,
            Method method)
      : service_{std::move(service)}, context_{context}, method_{method} {}

  class Lease;

  void run(std::shared_ptr<Lease> lease);
  /// Once; the call may be gone then.
  void finish(const GrpcAnswer& answer);

  const std::shared_ptr<GrpcService> service_;
  ::grpc::GenericCallbackServerContext& context_;
  const Method method_;
  ::grpc::ByteBuffer message_;

  std::mutex mutex_;  // of what follows
  bool cancelled_ = false;
  Future<GrpcAnswerPtr> work_;
};

}  // namespace stoker::serve::grpc
