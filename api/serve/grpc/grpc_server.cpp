#include "stoker/api/serve/grpc/grpc_server.hpp"

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "stoker/api/serve/grpc/stream_call.hpp"
#include "stoker/api/serve/grpc/unary_call.hpp"
#include "stoker/api/system.hpp"

namespace stoker {
namespace serve::grpc {
namespace {

/// What is longer is as good as for ever, and the clock could not count to its end.
constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 365};

std::string target_of(const std::string& address, std::uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  return (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

void check(const GrpcServerOptions& options) {
  const auto require = [](std::size_t value, const char* name, std::size_t most) {
    if (value == 0 || value > most)
      throw Error{"grpc_server",
                  ErrorCode::invalid_argument,
                  std::string{name} + " is from 1 to " + std::to_string(most),
                  {{"came", std::to_string(value)}}};
  };
  constexpr std::size_t most = std::numeric_limits<int>::max();
  require(options.message_bytes, "message_bytes", most);
  require(options.tensor_bytes, "tensor_bytes", std::numeric_limits<std::size_t>::max());
  if (options.tls_certificate.empty() != options.tls_key.empty())
    throw Error{"grpc_server", ErrorCode::invalid_argument,
                "a certificate and a key belong together"};
  require(options.calls, "calls", most);
  require(options.requests_ahead, "requests_ahead", most);
}

std::shared_ptr<::grpc::ServerCredentials> credentials_of(const GrpcServerOptions& options) {
  namespace tls = ::grpc::experimental;
  if (options.tls_certificate.empty()) return ::grpc::InsecureServerCredentials();
  for (const auto& file : {options.tls_certificate, options.tls_key})
    if (!std::filesystem::is_regular_file(file))
      throw Error{"grpc_server", ErrorCode::not_found, "no such file", {{"file", file.string()}}};
  constexpr unsigned seconds_between_reads = 60;
  tls::TlsServerCredentialsOptions with{std::make_shared<tls::FileWatcherCertificateProvider>(
      options.tls_key.string(), options.tls_certificate.string(), seconds_between_reads)};
  with.watch_identity_key_cert_pairs();
  return tls::TlsServerCredentials(with);
}

/// Ends a call that has no token.
class RefusedCall final : public ::grpc::ServerGenericBidiReactor {
 public:
  RefusedCall() {
    Finish({::grpc::StatusCode::UNAUTHENTICATED,
            "a token is needed as metadata: authorization: Bearer TOKEN"});
  }
  void OnDone() override { const std::unique_ptr<RefusedCall> self{this}; }
};

std::string_view authorization_of(const ::grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find("authorization");
  if (found == context.client_metadata().end()) return {};
  return {found->second.data(), found->second.size()};
}

}  // namespace

class ServerCore final : public ::grpc::CallbackGenericService {
 public:
  ServerCore(const System& system, std::shared_ptr<const ServedModels> models,
             const GrpcServerOptions& options)
      : service_{std::make_shared<GrpcService>(
            CallPlaces{system.shared_executor(), &system.blocking()}, std::move(models),
            protocol::BodyLimits{.tensor_bytes = options.tensor_bytes}, options.tokens)},
        requests_ahead_{options.requests_ahead} {
    check(options);
    ::grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(target_of(options.address, options.port), credentials_of(options),
                             &port);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes));
    builder.SetMaxSendMessageSize(-1);
    // gRPC decodes a message whole before it looks at its size: a small one could take all memory.
    for (const auto coding : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
      builder.SetCompressionAlgorithmSupportStatus(coding, false);
    // By default a second server would share the port.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, static_cast<int>(options.calls));
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
    if (!server_)
      throw Error{"grpc_server",
                  ErrorCode::already_exists,
                  "cannot listen at " + target_of(options.address, options.port) +
                      ": the port is taken, or the address is none of this machine",
                  {{"address", target_of(options.address, options.port)}}};
    port_ = static_cast<std::uint16_t>(port);
  }
  ~ServerCore() override {
    if (drainer_.joinable()) drainer_.join();
  }
  ServerCore(const ServerCore&) = delete;
  ServerCore& operator=(const ServerCore&) = delete;

  ::grpc::ServerGenericBidiReactor* CreateReactor(
      ::grpc::GenericCallbackServerContext* context) override {
    const Method method = method_of(context->method());
    if (!service_->opens(method, authorization_of(*context)))
      return std::make_unique<RefusedCall>().release();  // OnDone() deletes it
    if (method == Method::model_stream_infer)
      return StreamCall::start(service_, *context, requests_ahead_);
    return UnaryCall::start(service_, *context, method);
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Blocks until all calls have ended.
  void end(std::chrono::nanoseconds patience) {
    service_->drain();
    const std::lock_guard lock{ending_};  // gRPC ends once
    server_->Shutdown(std::chrono::system_clock::now() +
                      std::chrono::duration_cast<std::chrono::system_clock::duration>(
                          std::min(patience, longest)));
    server_->Wait();
  }
  /// Ready when all calls have ended. No thread of the pool waits for that: large messages need them.
  [[nodiscard]] Future<void> drain(std::chrono::nanoseconds patience) {
    service_->drain();
    const std::lock_guard lock{draining_};
    if (drainer_.joinable()) return drained_;
    Promise<void> done;
    drained_ = done.future();
    drainer_ = std::thread{[this, patience, done = std::move(done)]() mutable {
      end(patience);
      done.set();
    }};
    return drained_;
  }

 private:
  const std::shared_ptr<GrpcService> service_;
  const std::size_t requests_ahead_;
  std::unique_ptr<::grpc::Server> server_;
  std::uint16_t port_ = 0;
  std::mutex ending_;

  std::mutex draining_;  // of what follows
  Future<void> drained_;
  std::thread drainer_;
};

}  // namespace serve::grpc

GrpcServer::GrpcServer(const System& system, std::shared_ptr<const ServedModels> models,
                       const GrpcServerOptions& options)
    : core_{std::make_shared<serve::grpc::ServerCore>(system, std::move(models), options)} {}

GrpcServer::~GrpcServer() {
  if (core_) core_->end(std::chrono::nanoseconds{0});
}

std::uint16_t GrpcServer::port() const noexcept { return core_->port(); }

Future<void> GrpcServer::drain(std::chrono::nanoseconds patience) const {
  return core_->drain(patience);
}

}  // namespace stoker
