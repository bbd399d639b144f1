// The target of a request, as segments of a path.
//
//     path_of("/ml/v2/models/a%20b/ready?x=1", "/ml")  → {"v2", "models", "a b", "ready"}
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::serve::http {

struct TargetPath {
  /// Percent-decoded; a name may contain '/' that way. A slash at the end makes no segment.
  std::vector<std::string> segments = {};
  /// Whether it is below the prefix. If not, there are no segments.
  bool below = false;
};

/// Takes the forms "/path?query" and "http://host/path?query". None for anything else, and for '%' without two
/// hexadecimal digits. `prefix` is "" or "/name", without a slash at the end.
[[nodiscard]] std::optional<TargetPath> path_of(std::string_view target, std::string_view prefix);

}  // namespace stoker::serve::http
