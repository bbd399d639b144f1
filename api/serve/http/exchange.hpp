// A request and its answer, apart from any library of HTTP.
//
// Values. Threads: as values.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

struct HttpQuestion {
  std::string method = {};  ///< "GET"
  std::string target = {};  ///< as it came, with a query
  std::string content_type = {};
  std::string content_encoding = {};
  /// The header Inference-Header-Content-Length; empty: it did not come.
  std::string json_bytes = {};
  std::string accept_encoding = {};
  std::string authorization = {};
  /// Whether it came to a loopback address or a Unix socket.
  bool is_local = false;
  std::string body = {};
};

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type = {};  ///< empty: there is no body
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};

  /// The value of that header, or an empty view. Names are compared as they are.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
};
using HttpAnswerPtr = std::shared_ptr<const HttpAnswer>;

}  // namespace stoker
