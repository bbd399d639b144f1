// What the headers of a request may say about the form of its body.
//
// Pure functions; any thread.
#pragma once

#include <string_view>

namespace stoker::serve::http {

/// Whether Content-Type is JSON or bytes, or is not there. Also curl's default for -d, which most examples of the
/// protocol leave as it is. Parameters such as charset do not count.
[[nodiscard]] bool is_body_type(std::string_view content_type) noexcept;

}  // namespace stoker::serve::http
