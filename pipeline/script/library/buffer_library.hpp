// Buffers as Lua sees them: userdata that holds a value of the tensors' graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/pipeline/script/operations/operation.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::script {

void push_buffer(lua_State* L, expr::Value value);
/// The buffer at `index`, or null if something else is there.
[[nodiscard]] expr::Value* test_buffer(lua_State* L, int index);
/// The same; raises naming `op` and what is there instead.
[[nodiscard]] expr::Value check_buffer(lua_State* L, int index, std::string_view op);

/// What a call is given: from stack index `first` on buffers, numbers, and last an options table.
struct CallArguments {
  std::vector<expr::Value> inputs;
  Params options = {};  ///< as they were written
};
[[nodiscard]] CallArguments check_arguments(lua_State* L, const Operation& operation, int first);
/// The outputs of a call; raises what is wrong with it.
[[nodiscard]] std::vector<expr::Value> make_call(lua_State* L, const Operation& operation,
                                                 const CallArguments& arguments);
/// Both. Pushes the outputs and returns their number.
int call_operation(lua_State* L, const Operation& operation, int first);
int push_outputs(lua_State* L, const std::vector<expr::Value>& outputs);
/// slice(b, {…}): a part of a buffer.
int slice(lua_State* L, Script& script);
/// Pushes the function of a kernel or an operation, or nil.
void push_function(lua_State* L, std::string_view name);
/// Whether a field, a kernel or an operation has this name.
[[nodiscard]] bool is_taken(lua_State* L, std::string_view name);
/// Makes the function at the top of the stack, which stays there, a method of buffers. Precondition: !is_taken().
void add_method(lua_State* L, std::string_view name);
/// "; did you mean 'matmul'?" for a name close to one that scripts have, else "".
[[nodiscard]] std::string suggestion(lua_State* L, std::string_view name);

/// invalid_parameter, naming the dtypes that there are.
[[nodiscard]] Error no_such_dtype(std::string_view op, std::string_view name);
/// Whether `b.name` is a fact about the buffer or a function that is no kernel's.
[[nodiscard]] bool is_field(std::string_view name) noexcept;

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
