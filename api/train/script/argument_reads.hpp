// Tracks which name=value arguments of the command line a training script reads. An argument that it
// never reads is most likely misspelt.
//
// `args` becomes an empty table that reads from the real one: args.name is recorded, and pairs(args)
// counts as reading all of them.
//
// Threads: the script's process. Errors are raised in Lua: invalid_argument, naming the unread
// argument (detail "argument"), the nearest name and all names that the script reads.
#pragma once

#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::nn::script {

/// Called before the script begins, when its description exists.
void watch_arguments(lua_State* L);
/// Called after it has ended.
void check_arguments(lua_State* L);

}  // namespace stoker::nn::script
