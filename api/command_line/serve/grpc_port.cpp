#include "stoker/api/command_line/serve/grpc_port.hpp"

#include <iostream>
#include <utility>

#include "stoker/runtime/base/printable.hpp"
#ifdef STOKER_WITH_GRPC
#include "stoker/api/serve_grpc.hpp"
#endif

namespace stoker::command_line {

#ifdef STOKER_WITH_GRPC

struct GrpcPort::Server {
  explicit Server(GrpcServer started) : server{std::move(started)} {}
  GrpcServer server;
};

GrpcPort::GrpcPort(const System& system, const std::shared_ptr<const ServedModels>& models,
                   const ServeWords& words, std::shared_ptr<const AccessTokens> tokens) {
  if (!words.grpc_port) return;
  GrpcServerOptions options{.address = words.address,
                            .port = static_cast<std::uint16_t>(*words.grpc_port),
                            .tokens = std::move(tokens),
                            .tls_certificate = words.tls_cert,
                            .tls_key = words.tls_key};
  server_ = std::make_unique<Server>(GrpcServer{system, models, options});
  const bool is_v6 = words.address.find(':') != std::string::npos;
  std::cout << "listening at " << (words.tls_cert.empty() ? "grpc" : "grpcs") << "://"
            << (is_v6 ? "[" : "") << printable(words.address) << (is_v6 ? "]" : "") << ':'
            << server_->server.port() << std::endl;
}

Future<void> GrpcPort::drain(std::chrono::nanoseconds patience) const {
  return server_ ? server_->server.drain(patience) : make_ready_future();
}

#else

struct GrpcPort::Server {};

GrpcPort::GrpcPort(const System&, const std::shared_ptr<const ServedModels>&,
                   const ServeWords& words, std::shared_ptr<const AccessTokens>) {
  if (words.grpc_port)
    throw Error{"serve", ErrorCode::unsupported, "this command was built without gRPC"};
}

Future<void> GrpcPort::drain(std::chrono::nanoseconds) const { return make_ready_future(); }

#endif

GrpcPort::~GrpcPort() = default;

}  // namespace stoker::command_line
