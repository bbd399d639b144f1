// The header traceparent of W3C Trace Context, by which a client tells of which trace its request is a part.
//
//     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoker::serve::http {

struct TraceParent {
  std::string trace_id = {};   ///< 32 hexadecimal digits
  std::string parent_id = {};  ///< 16 of them: the span of the client
};

/// None for what is not valid, which counts as no header. Later versions of the header may be longer.
[[nodiscard]] std::optional<TraceParent> trace_parent_of(std::string_view header);

}  // namespace stoker::serve::http
