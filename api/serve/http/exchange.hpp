// A request and its answer, apart from any library of HTTP.
//
// Values. Threads: as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
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
  /// The header of that name of W3C Trace Context; empty: it did not come.
  std::string traceparent = {};
  std::string body = {};
};

/// What an access log says about an inference request beside its status.
struct HttpInference {
  std::string request_id = {};  ///< as the client named it
  std::string model = {};
  std::string version = {};
  std::string trace_id = {};  ///< of the client's trace; empty: there is none
  // Of a request with a result; else 0.
  std::int64_t rows = 0;
  std::int64_t batch_rows = 0;  ///< of its last batch
  std::chrono::nanoseconds queue = {};
  std::chrono::nanoseconds compute = {};
};

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type = {};  ///< empty: there is no body
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::optional<HttpInference> inference = {};

  /// The value of that header, or an empty view. Names are compared as they are.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept {
    for (const auto& [key, value] : headers)
      if (key == name) return value;
    return {};
  }
};
using HttpAnswerPtr = std::shared_ptr<const HttpAnswer>;

}  // namespace stoker
