#include "stoker/api/model/script/named_inputs.hpp"

#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"

namespace stoker::models {

namespace lua = stoker::script;

void each_named_input(lua_State* L, int index,
                      const std::function<void(const std::string&)>& take) {
  if (!lua_istable(L, index))
    lua::raise(L, Error{predict_op, ErrorCode::invalid_argument,
                        "inputs are given by name, m:predict{name = buffer}, got " +
                            lua::value_text(L, index)});
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    lua::spend(L, 10);
    if (lua_type(L, -2) != LUA_TSTRING)
      lua::raise(L, Error{predict_op, ErrorCode::invalid_argument,
                          "inputs are given by name, m:predict{name = buffer}; there is no name "
                          "before " +
                              lua::value_text(L, -1)});
    take(std::string{lua::check_text(L, -2)});
    lua_pop(L, 1);
  }
}

const expr::Value& check_named_buffer(lua_State* L, const std::string& name) {
  const expr::Value* const value = lua::test_buffer(L, -1);
  if (value == nullptr)
    lua::raise(L, Error{predict_op,
                        ErrorCode::invalid_argument,
                        "input '" + name + "': expected a buffer, got " + lua::value_text(L, -1),
                        {{"input", name}}});
  return *value;
}

}  // namespace stoker::models
