// The gRPC side of `stoker serve`.
//
// Threads: one. Errors are thrown: those of GrpcServer, and unsupported where the command was built without gRPC.
#pragma once

#include <chrono>
#include <memory>

#include "stoker/api/command_line/words/serve_words.hpp"
#include "stoker/api/serve_http.hpp"

namespace stoker::command_line {

class GrpcPort {
 public:
  /// Listens, and prints the address, if the words name a port.
  GrpcPort(const System& system, const std::shared_ptr<const ServedModels>& models,
           const ServeWords& words, std::shared_ptr<const AccessTokens> tokens);
  ~GrpcPort();
  GrpcPort(const GrpcPort&) = delete;
  GrpcPort& operator=(const GrpcPort&) = delete;

  /// Ready when its calls have ended, at the latest after `patience`.
  [[nodiscard]] Future<void> drain(std::chrono::nanoseconds patience) const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;  ///< null: there is none
};

}  // namespace stoker::command_line
