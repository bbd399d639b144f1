// The inputs of a prediction in a script, in a table by name: m:predict{name = buffer, …}.
//
// Threads: the script's process. Errors are raised in the script.
#pragma once

#include <functional>
#include <string>

#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::models {

/// The op of a prediction's errors.
inline constexpr const char* predict_op = "predict";

/// Calls take(name) for each input of the table at `index`, with the input on top of the stack. Raises
/// invalid_argument if it is not a table, or for a key that is not text. Counts steps of the script.
void each_named_input(lua_State* L, int index, const std::function<void(const std::string&)>& take);
/// The buffer on top of the stack, for input `name`. Raises invalid_argument if it is not a buffer.
[[nodiscard]] const expr::Value& check_named_buffer(lua_State* L, const std::string& name);

}  // namespace stoker::models
