// The functions of the table as functions of Lua's, and as methods of buffers.
#pragma once

struct lua_State;

namespace stoker::script {

/// Adds them to a script that has not begun. A name that a kernel of the program's has stays that kernel's.
void open_tensor_functions(lua_State* L);

}  // namespace stoker::script
