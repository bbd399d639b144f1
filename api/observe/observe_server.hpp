// A Unix domain socket at which another process may ask what a system looks like: who connects is
// answered with one observation as JSON, and the connection ends. Nothing is read from it.
//
// Whoever may open the file may ask: it is made with mode 0600.
//
// Threads: the server has one of its own, so that it answers also while the system's executor does not
// run. Lifetime: the destructor waits for an answer that is being made (observation_patience for each
// level of the tree) and removes the file. A forked child neither listens nor keeps the socket open,
// and does not remove the file. Errors: see each function.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "stoker/api/observe/observing.hpp"

namespace stoker {

class ObserveServer {
 public:
  /// Called on the server's thread, for each connection.
  using Look = std::function<Observed()>;

  /// Listens at `path`; a socket that a dead process left there is replaced. Throws already_exists
  /// (somebody listens there, or it is no socket), invalid_argument (too long a path), io_error.
  ObserveServer(const std::string& path, Look look);
  ~ObserveServer();
  ObserveServer(const ObserveServer&) = delete;
  ObserveServer& operator=(const ObserveServer&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The server of a system; null for an empty path. A failure is logged and is null, too: a program
/// runs, observed or not.
[[nodiscard]] std::unique_ptr<ObserveServer> serve_observations(const std::string& path,
                                                                ObserveServer::Look look) noexcept;

/// Asks the server at `path`; blocks the thread. Errors: not_found (nobody listens there),
/// permission_denied, io_error (no answer within `patience`, or none that can be read).
[[nodiscard]] Result<SystemObservation> observe_at(
    const std::string& path, std::chrono::nanoseconds patience = std::chrono::seconds{10});

}  // namespace stoker
