// The functions of the table as Lua functions, and as methods of buffers.
#pragma once

struct lua_State;

namespace stoker::script {

/// Adds them to a script that has not begun. They do not replace a kernel of the program with the same
/// name.
void open_tensor_functions(lua_State* L);

}  // namespace stoker::script
