#include "stoker/api/serve/grpc/grpc_server.hpp"

#include <grpcpp/grpcpp.h>

#include <limits>
#include <mutex>
#include <string_view>
#include <utility>

#include "stoker/api/serve/grpc/stream_call.hpp"
#include "stoker/api/serve/grpc/unary_call.hpp"
#include "stoker/api/system.hpp"

namespace stoker {
namespace serve::grpc {
namespace {

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
  require(options.calls, "calls", most);
  require(options.requests_ahead, "requests_ahead", most);
}

}  // namespace

class ServerCore final : public ::grpc::CallbackGenericService {
 public:
  ServerCore(const System& system, std::shared_ptr<const ServedModels> models,
             const GrpcServerOptions& options)
      : service_{std::make_shared<GrpcService>(
            CallPlaces{system.shared_executor(), &system.blocking()}, std::move(models),
            protocol::BodyLimits{.tensor_bytes = options.tensor_bytes})},
        requests_ahead_{options.requests_ahead} {
    check(options);
    ::grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(target_of(options.address, options.port),
                             ::grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options.message_bytes));
    builder.SetMaxSendMessageSize(-1);
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
  ~ServerCore() override = default;
  ServerCore(const ServerCore&) = delete;
  ServerCore& operator=(const ServerCore&) = delete;

  ::grpc::ServerGenericBidiReactor* CreateReactor(
      ::grpc::GenericCallbackServerContext* context) override {
    const Method method = method_of(context->method());
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
                      std::chrono::duration_cast<std::chrono::system_clock::duration>(patience));
    server_->Wait();
  }
  [[nodiscard]] GrpcService& service() const noexcept { return *service_; }

 private:
  const std::shared_ptr<GrpcService> service_;
  const std::size_t requests_ahead_;
  std::unique_ptr<::grpc::Server> server_;
  std::uint16_t port_ = 0;
  std::mutex ending_;
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
  return core_->service().pool().run([core = core_, patience] { core->end(patience); });
}

}  // namespace stoker
