// Converts the table that a script gives to kernel{…} to the definition that programs use.
//
// Threads: the script's process only.
#pragma once

#include "stoker/api/kernel_spec.hpp"
#include "stoker/pipeline/script/lua/lua_glue.hpp"

namespace stoker::script {

/// The name of the function, also in its errors.
inline constexpr const char* define_op = "kernel";
/// The maximum length of a GLSL text.
inline constexpr std::size_t longest_glsl = std::size_t{64} << 10;

struct KernelTable {
  KernelSpec spec;
  std::string identity;  ///< equal for tables that define the same kernel, and only for these
};

/// The table at `index` without its field `cpu`, which is Lua's. Metatables do not count. Raises invalid_parameter
/// for a field that is unknown, missing or of the wrong kind; try_make_kernel() finds contradictions.
[[nodiscard]] KernelTable check_kernel_table(lua_State* L, int index);

}  // namespace stoker::script
