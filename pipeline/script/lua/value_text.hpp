// Any value of Lua's in a few words, for messages: nil, true, 42, "text", {code = 3, 7}, a function.
#pragma once

#include <string>

#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::script {

/// Of a table the fields, tables in it unopened; of long texts and tables the beginning. Calls nothing of
/// the script's.
[[nodiscard]] std::string value_text(lua_State* L, int index);

}  // namespace stoker::script
