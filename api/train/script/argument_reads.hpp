// Which of the command line's name=value a training script looks at: one that it never reads was most
// likely meant to be another.
//
// `args` becomes an empty table that asks the real one: args.name is noted, and pairs(args) counts as
// reading all of them.
//
// Threads: the script's process. Errors are raised in Lua: invalid_argument, naming what was not read
// (detail "argument"), the nearest name and all names that the script reads.
#pragma once

#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::nn::script {

/// Before the script begins, when the description is there.
void watch_arguments(lua_State* L);
/// After it has ended.
void check_arguments(lua_State* L);

}  // namespace stoker::nn::script
