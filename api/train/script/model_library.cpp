#include "stoker/api/train/script/model_library.hpp"

#include "stoker/api/script/functions/library.hpp"
#include "stoker/api/train/script/saved_models.hpp"

namespace stoker::nn {
namespace {

namespace lua = stoker::script;

int refuse_function(lua_State* L, lua::Script&) {
  const std::string wanted{lua::check_text(L, 2).substr(0, 64)};
  lua::raise(L,
             Error{"nn",
                   ErrorCode::script_error,
                   "there is no nn." + wanted +
                       " here, only nn.load; a script that describes a model and its training is "
                       "for: stoker train FILE.lua",
                   {{"name", wanted}}});
}

}  // namespace

void ModelLibrary::open(lua_State* L) {
  lua::open_tensor_functions(L);
  lua_newtable(L);
  script::open_saved_models(L);
  lua_newtable(L);
  lua_pushcfunction(L, lua::function<refuse_function>);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setglobal(L, "nn");
}

}  // namespace stoker::nn
