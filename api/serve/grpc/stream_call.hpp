// A stream of inference requests: they run together and are answered in their order.
//
// Threads: reactions come on gRPC's threads, answers on the executor's. Lifetime: it ends itself when gRPC says that
// the call is done; each request that runs holds a Lease.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "stoker/api/serve/grpc/grpc_service.hpp"

namespace stoker::serve::grpc {

class StreamCall final : public ::grpc::ServerGenericBidiReactor {
 public:
  /// Starts the call; it deletes itself. `requests_ahead`: as GrpcServerOptions has it.
  static ::grpc::ServerGenericBidiReactor* start(std::shared_ptr<GrpcService> service,
                                                 ::grpc::GenericCallbackServerContext& context,
                                                 std::size_t requests_ahead);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { const std::unique_ptr<StreamCall> self{this}; }

 private:
  struct Request {
    Future<GrpcAnswerPtr> work = {};
    GrpcAnswerPtr answer = {};  ///< once there is one
  };
  using RequestPtr = std::shared_ptr<Request>;
  /// What to do next, decided under the lock and done outside it.
  struct Next {
    bool read = false;
    bool write = false;
    bool finish = false;
    bool cancelled = false;  ///< it finishes so
  };
  class Lease;

  StreamCall(std::shared_ptr<GrpcService> service, ::grpc::GenericCallbackServerContext& context,
             std::size_t requests_ahead)
      : service_{std::move(service)}, context_{context}, requests_ahead_{requests_ahead} {}

  void run(const RequestPtr& request, ReceivedMessage message);
  void answered(const RequestPtr& request, GrpcAnswerPtr answer);
  void cancel_all();
  /// Under the lock.
  [[nodiscard]] Next next();
  void take(const Next& next);

  const std::shared_ptr<GrpcService> service_;
  ::grpc::GenericCallbackServerContext& context_;
  const std::size_t requests_ahead_;
  ::grpc::ByteBuffer incoming_;
  ::grpc::ByteBuffer outgoing_;

  std::mutex mutex_;                 // of what follows
  std::deque<RequestPtr> requests_;  ///< not answered yet, in their order
  bool reading_ = true;
  bool all_read_ = false;
  bool writing_ = false;
  bool broken_ = false;  ///< nobody reads answers any more
  bool finished_ = false;
};

}  // namespace stoker::serve::grpc
