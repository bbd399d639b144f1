// The text format of protocol buffers, without a schema: fields with their values, as they stand there.
//
// Read are comments, numbers, words, strings with escapes, strings that continue, messages in {} or <>, lists in [].
// Not read: extensions and the names of types in brackets.
//
// Pure; any thread. Errors are thrown: invalid_argument, with line and column.
#pragma once

#include <string_view>

#include "stoker/api/serve/repository/config_tree.hpp"

namespace stoker::serve {

[[nodiscard]] ConfigValue read_protobuf_text(std::string_view text);

}  // namespace stoker::serve
