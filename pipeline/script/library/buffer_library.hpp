// Buffers as Lua sees them: userdata that holds a LazyPtr.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/pipeline/script/run/lazy_value.hpp"

namespace stoker::script {

void push_buffer(lua_State* L, LazyPtr value);
/// The buffer at `index`, or null if something else is there.
[[nodiscard]] LazyPtr* test_buffer(lua_State* L, int index);
/// The same; raises naming `op` and what is there instead.
[[nodiscard]] LazyPtr check_buffer(lua_State* L, int index, std::string_view op);

/// Calls a kernel with the values from stack index `first` on: buffers, numbers (scalars of the
/// first buffer's dtype), and last an options table. Pushes its outputs and returns their number.
int call_kernel(lua_State* L, const std::shared_ptr<const Kernel>& kernel, int first);
/// Pushes the function of a kernel, or nil.
void push_kernel_function(lua_State* L, std::string_view name);
/// "; did you mean 'matmul'?" for a name close to one that scripts have, else "".
[[nodiscard]] std::string suggestion(lua_State* L, std::string_view name);
/// The kernel of this name or alias, or null.
[[nodiscard]] std::shared_ptr<const Kernel> find_kernel(lua_State* L, std::string_view name);

/// The integers in the table at `index`. Raises naming `what` on anything else.
[[nodiscard]] std::vector<std::int64_t> check_integers(lua_State* L, int index, std::string_view op,
                                                       std::string_view what);
/// The value at `index` as an option's: a boolean, a number, a text or a list of integers. Raises
/// naming `op` and the option on anything else.
[[nodiscard]] ParamValue check_option(lua_State* L, int index, std::string_view op,
                                      std::string_view name);
/// Raises unless every key of the table at `index` is one of `known`.
void check_options(lua_State* L, int index, std::string_view op,
                   std::initializer_list<std::string_view> known);

}  // namespace stoker::script
