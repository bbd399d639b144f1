// A client of raw bytes, for tests of an HTTP server: it sends what no library would.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace stoker {

struct RawAnswer {
  unsigned status = 0;
  std::map<std::string, std::string> headers = {};  ///< names in lower case
  std::string body = {};

  [[nodiscard]] std::string header(const std::string& name) const {
    const auto place = headers.find(name);
    return place == headers.end() ? "" : place->second;
  }
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect_to(address);
  }
  explicit RawClient(const std::filesystem::path& path)
      : socket_{::socket(AF_UNIX, SOCK_STREAM, 0)} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    connect_to(address);
  }
  virtual ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  [[nodiscard]] bool is_connected() const { return socket_ >= 0; }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = write_some(bytes);
      if (sent <= 0) return;  // the answer says why
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void send_in_pieces(std::string_view bytes, std::size_t size) const {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(size, bytes.size())))
      send(bytes.substr(0, size));
  }
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  /// The next answer; `has_body`: it is not one to HEAD. Status 0: the connection ended before it.
  RawAnswer receive(bool has_body = true) {
    RawAnswer answer;
    const std::string head = take_through("\r\n\r\n");
    if (head.size() < 12) return answer;
    answer.status = static_cast<unsigned>(std::stoul(head.substr(9, 3)));
    for (std::size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
      const std::size_t end = head.find("\r\n", at);
      const std::size_t colon = head.find(": ", at);
      std::string name = head.substr(at, colon - at);
      std::ranges::transform(name, name.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      answer.headers.emplace(std::move(name), head.substr(colon + 2, end - colon - 2));
      at = end + 2;
    }
    if (has_body && !answer.header("content-length").empty())
      answer.body = take(std::stoul(answer.header("content-length")));
    return answer;
  }
  RawAnswer ask(std::string_view bytes, bool has_body = true) {
    send(bytes);
    return receive(has_body);
  }
  /// Waits for the first bytes of an answer.
  [[nodiscard]] bool has_part_of_answer() { return !arrived_.empty() || fill(); }
  /// Whether the server ends the connection without sending more.
  [[nodiscard]] bool is_at_end() { return arrived_.empty() && !fill(); }

 protected:
  [[nodiscard]] int socket() const { return socket_; }
  virtual ssize_t write_some(std::string_view bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  virtual ssize_t read_some(char* into, std::size_t bytes) {
    return ::recv(socket_, into, bytes, 0);
  }

 private:
  template <class Address> void connect_to(const Address& address) {
    // A server that does not answer must not hold the tests for ever.
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      close();
  }
  bool fill() {
    char bytes[4096];
    const ssize_t count = read_some(bytes, sizeof bytes);
    if (count > 0) arrived_.append(bytes, static_cast<std::size_t>(count));
    EXPECT_FALSE(count < 0 && errno == EAGAIN) << "the server says nothing";
    return count > 0;
  }
  std::string take(std::size_t size) {
    while (arrived_.size() < size && fill()) {
    }
    std::string taken = arrived_.substr(0, size);
    arrived_.erase(0, taken.size());
    return taken;
  }
  std::string take_through(std::string_view mark) {
    while (arrived_.find(mark) == std::string::npos) {
      if (!fill()) return {};
    }
    return take(arrived_.find(mark) + mark.size());
  }

  int socket_;
  std::string arrived_;
};

/// A request without a body.
inline std::string get(const std::string& target, const std::string& method = "GET") {
  return method + " " + target + " HTTP/1.1\r\nHost: test\r\n\r\n";
}
/// `fields` end with CRLF each.
inline std::string post(const std::string& target, const std::string& body,
                        const std::string& fields = "") {
  return "POST " + target + " HTTP/1.1\r\nHost: test\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace stoker
