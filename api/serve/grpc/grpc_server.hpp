// A gRPC server for models: the Open Inference Protocol's service `inference.GRPCInferenceService`, as clients of
// KServe and Triton speak it. Component Stoker::serve_grpc.
//
//     const GrpcServer server{system, models, {.address = "127.0.0.1", .port = 8001}};
//     …
//     server.drain(30s).get();
//
//     ServerLive, ServerReady, ServerMetadata, ModelReady, ModelMetadata, ModelInfer,
//     ModelStreamInfer: requests of a stream run together and are answered in their order; one that fails is answered
//     by its `error_message`, and the stream goes on.
//
// Deadlines and cancellations of calls reach the model. A refusal that may pass has the status UNAVAILABLE and says in
// the trailing metadata `grpc-retry-pushback-ms` when to come again, if it knows. docs/serving.md has the statuses.
//
// Threads: a handle; any thread may call. gRPC has threads of its own, which run no model and wait for none.
// Lifetime: the destructor ends the server at once and waits until its calls have ended, a moment, or for drain() if
// that runs; the system outlives it. Errors: the constructor throws already_exists if the port is taken or the address
// is none of this machine, not_found if a file of TLS is not there, and invalid_argument for limits of 0 and for a
// certificate without a key.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "stoker/api/serve/calls/access_tokens.hpp"
#include "stoker/api/serve/models/served_models.hpp"

namespace stoker {

class System;  // api/system.hpp

namespace serve::grpc {
class ServerCore;
}  // namespace serve::grpc

struct GrpcServerOptions {
  std::string address = "127.0.0.1";  ///< "0.0.0.0", "::1"
  std::uint16_t port = 8001;          ///< 0: any free one
  std::size_t message_bytes = std::size_t{64}
                              << 20;  ///< of a request; beyond it RESOURCE_EXHAUSTED
  /// Of all inputs of a request together.
  std::uint64_t tensor_bytes = std::uint64_t{1} << 30;
  /// Null: it needs none. Health needs none anyway. Clients send `authorization: Bearer TOKEN` as metadata.
  std::shared_ptr<const AccessTokens> tokens = {};
  /// Empty: without TLS. Files in PEM, which are read again within a minute after they have changed.
  std::filesystem::path tls_certificate = {};
  std::filesystem::path tls_key = {};
  std::size_t calls = 1024;  ///< of a connection at once; further ones wait at the client
  /// Requests of a stream that run while an earlier one is not answered yet.
  std::size_t requests_ahead = 16;
};

class GrpcServer {
 public:
  GrpcServer(const System& system, std::shared_ptr<const ServedModels> models,
             const GrpcServerOptions& options = {});
  ~GrpcServer();
  GrpcServer(GrpcServer&&) noexcept = default;
  GrpcServer& operator=(GrpcServer&&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;

  /// Ends in good order: it is not ready, accepts no calls, and answers those that run. After `patience` they are
  /// cancelled. Ready when all have ended. A second drain() waits for the first.
  Future<void> drain(std::chrono::nanoseconds patience) const;

 private:
  std::shared_ptr<serve::grpc::ServerCore> core_;
};

}  // namespace stoker
