// Names of a file as errors show them.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace stoker::onnx {

/// Escaped as printable() does; of a long one only the beginning, for one error shows many.
[[nodiscard]] std::string shown(std::string_view name);
/// The same in single quotes.
[[nodiscard]] std::string in_quotes(std::string_view name);

}  // namespace stoker::onnx
