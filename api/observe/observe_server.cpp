#include "stoker/api/observe/observe_server.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "stoker/runtime/base/fork_guard.hpp"
#include "stoker/runtime/observe/log.hpp"

namespace stoker {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Protocol = asio::local::stream_protocol;

/// Sockets that a forked child closes: while one is open anywhere, its path looks alive. Process-wide
/// by nature, as is the handler. 0 is free, else one more than the descriptor.
constinit std::array<std::atomic<int>, 16> listening{};

/// A listening socket while it lives.
class Noted {
 public:
  explicit Noted(int descriptor) : entry_{descriptor + 1} {
    for (std::atomic<int>& one : listening)
      if (int free = 0; one.compare_exchange_strong(free, entry_)) return;
  }
  ~Noted() {
    for (std::atomic<int>& one : listening)
      if (int noted = entry_; one.compare_exchange_strong(noted, 0)) return;
  }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

 private:
  /// In the child.
  static void close_all() {
    for (std::atomic<int>& one : listening)
      if (const int entry = one.exchange(0); entry != 0) close(entry - 1);
  }

  static const int handler_;  ///< of pthread_atfork
  const int entry_;
};

// Before main(): a child would wait for ever for what a thread of the parent was doing once.
const int Noted::handler_ = pthread_atfork(nullptr, nullptr, close_all);

[[nodiscard]] Error failure(ErrorCode code, std::string reason, const std::string& path,
                            const error_code& problem = {}) {
  Error error{"observe", code, std::move(reason), {{"socket", path}}};
  return problem ? error.with("problem", problem.message()) : error;
}

/// Whether nobody listens at a socket any more.
bool is_stale(const Protocol::endpoint& endpoint) {
  asio::io_context unused;
  Protocol::socket probe{unused};
  error_code problem;
  probe.connect(endpoint, problem);
  return problem == asio::error::connection_refused;
}

Protocol::endpoint endpoint_of(const std::string& path) {
  try {
    return Protocol::endpoint{path};
  } catch (const boost::system::system_error& problem) {
    throw failure(ErrorCode::invalid_argument, "the path is too long for a socket", path,
                  problem.code());
  }
}

struct stat status_of(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return {};
  return found;
}

/// The socket's file. Removes it in the end, unless another lies there by then.
class SocketFile {
 public:
  explicit SocketFile(std::string path) : path_{std::move(path)}, made_{status_of(path_)} {}
  ~SocketFile() {
    const struct stat there = status_of(path_);
    if (there.st_dev == made_.st_dev && there.st_ino == made_.st_ino) unlink(path_.c_str());
  }
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

 private:
  const std::string path_;
  const struct stat made_;
};

/// One answer on its way. Owned by what it waits for.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Protocol::socket socket, std::string answer)
      : socket_{std::move(socket)}, timer_{socket_.get_executor()}, answer_{std::move(answer)} {}

  void start() {
    // One that does not read must not stay for ever.
    timer_.expires_after(std::chrono::seconds{5});
    timer_.async_wait([self = shared_from_this()](const error_code& cancelled) {
      if (!cancelled) self->end();
    });
    asio::async_write(socket_, asio::buffer(answer_),
                      [self = shared_from_this()](const error_code&, std::size_t) { self->end(); });
  }

 private:
  void end() {
    timer_.cancel();
    error_code ignored;
    // The end of the answer even if a process that was started meanwhile has a copy of the socket.
    socket_.shutdown(Protocol::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  Protocol::socket socket_;
  asio::steady_timer timer_;
  const std::string answer_;
};

}  // namespace

class ObserveServer::Impl {
 public:
  Impl(const std::string& path, Look look) : look_{std::move(look)} {
    listen(path);
    accept();
    thread_ = std::jthread{[this] { serve(); }};
    pthread_setname_np(thread_.native_handle(), "stoker/observe");
  }
  ~Impl() { loop_.stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] bool forked() const noexcept { return fork_.forked(); }

 private:
  void listen(const std::string& path) {
    const Protocol::endpoint endpoint = endpoint_of(path);
    // By hand: Asio's sockets are passed on to programs that this one starts.
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
      throw failure(ErrorCode::io_error, "no socket can be made", path,
                    error_code{errno, boost::system::system_category()});
    acceptor_.assign(Protocol{}, descriptor);
    noted_.emplace(descriptor);
    fchmod(descriptor, S_IRUSR | S_IWUSR);  // bind() gives the file these rights
    error_code problem;
    acceptor_.bind(endpoint, problem);
    if (problem == asio::error::address_in_use) {
      make_room(path, endpoint);
      acceptor_.bind(endpoint, problem);
    }
    if (problem) throw failure(ErrorCode::io_error, "cannot listen", path, problem);
    file_.emplace(path);
    acceptor_.listen(asio::socket_base::max_listen_connections, problem);
    if (problem) throw failure(ErrorCode::io_error, "cannot listen", path, problem);
  }

  static void make_room(const std::string& path, const Protocol::endpoint& endpoint) {
    if (!S_ISSOCK(status_of(path).st_mode))
      throw failure(ErrorCode::already_exists, "there is a file that is no socket", path);
    if (!is_stale(endpoint))
      throw failure(ErrorCode::already_exists, "another system listens there", path);
    unlink(path.c_str());
  }

  /// Until the loop is stopped. Without memory to wait for the next connection it tries again later.
  void serve() noexcept {
    for (bool waits = true; !loop_.stopped();) try {
        if (!std::exchange(waits, true)) accept_later();
        loop_.run();
      } catch (...) {
        waits = false;
        stoker::detail::log_escaped_exception("observe");
        std::this_thread::sleep_for(std::chrono::seconds{1});
      }
  }

  void accept() {
    acceptor_.async_accept([this](const error_code& problem, Protocol::socket socket) {
      if (problem) return accept_later();
      try {
        std::make_shared<Connection>(std::move(socket), to_json(observe_now(look_())))->start();
      } catch (...) {
        log_error("an observation failed",
                  {{"error", error_from_current_exception("observe").what()}});
      }
      accept();
    });
  }

  /// Without descriptors, for example: trying again at once would spin.
  void accept_later() {
    retry_.expires_after(std::chrono::seconds{1});
    retry_.async_wait([this](const error_code& cancelled) {
      if (!cancelled) accept();
    });
  }

  const Look look_;
  const ForkGuard fork_;
  asio::io_context loop_{1};
  Protocol::acceptor acceptor_{loop_};
  asio::steady_timer retry_{loop_};
  std::optional<Noted> noted_;
  std::optional<SocketFile> file_;
  std::jthread thread_;  // the last: it is joined first
};

ObserveServer::ObserveServer(const std::string& path, Look look)
    : impl_{std::make_unique<Impl>(path, std::move(look))} {}

ObserveServer::~ObserveServer() {
  // Thread and file are the parent's.
  if (impl_->forked()) static_cast<void>(impl_.release());
}

std::unique_ptr<ObserveServer> serve_observations(const std::string& path,
                                                  ObserveServer::Look look) noexcept {
  if (path.empty()) return nullptr;
  try {
    return std::make_unique<ObserveServer>(path, std::move(look));
  } catch (...) {
    log_error("the system cannot be observed",
              {{"error", error_from_current_exception("observe").what()}});
  }
  return nullptr;
}

Result<SystemObservation> observe_at(const std::string& path, std::chrono::nanoseconds patience) {
  Protocol::iostream stream;
  stream.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(patience));
  try {
    stream.connect(endpoint_of(path));
  } catch (const Error& error) {
    return error;
  }
  if (const error_code problem = stream.error()) {
    if (problem == error_code{ENOENT, boost::system::system_category()} ||
        problem == asio::error::connection_refused)
      return failure(ErrorCode::not_found, "nobody listens there", path, problem);
    if (problem == asio::error::access_denied)
      return failure(ErrorCode::permission_denied, "the socket is somebody else's", path, problem);
    return failure(ErrorCode::io_error, "cannot connect", path, problem);
  }
  const std::string answer{std::istreambuf_iterator<char>{stream}, {}};
  if (const error_code problem = stream.error(); problem && problem != asio::error::eof)
    return failure(ErrorCode::io_error, "no answer in time", path, problem);
  if (answer.empty())
    return failure(ErrorCode::io_error, "the connection ended without an answer", path);
  const auto seen = try_observation_from_json(answer);
  if (!seen) return failure(ErrorCode::io_error, "the answer cannot be read", path);
  return seen;
}

}  // namespace stoker
