#include "stoker/api/script/functions/library.hpp"

#include "stoker/api/device.hpp"
#include "stoker/api/script/functions/function_table.hpp"
#include "stoker/api/tensor_script.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/run/script.hpp"

namespace stoker::script {
namespace {

int call_function(lua_State* L, Script& script) {
  const auto* operation = static_cast<const Operation*>(lua_touserdata(L, lua_upvalueindex(1)));
  const DeviceScope scope{Device{script.services().device}};
  return call_operation(L, *operation, 1);
}

class FunctionLibrary final : public ScriptExtension {
 public:
  void open(lua_State* L) override { open_tensor_functions(L); }
  void on_returned(lua_State*, int) override {}
};

}  // namespace

void open_tensor_functions(lua_State* L) {
  for (const TensorFunction& one : FunctionTable::builtin().list()) {
    const std::string& name = one.operation.name;
    if (is_taken(L, name)) continue;  // by a kernel of the program's
    lua_pushlightuserdata(L, const_cast<Operation*>(&one.operation));
    lua_pushcclosure(L, function<call_function>, 1);
    add_method(L, name);
    lua_setglobal(L, name.c_str());
  }
}

}  // namespace stoker::script

namespace stoker {

std::shared_ptr<ScriptExtension> script_functions() {
  return std::make_shared<script::FunctionLibrary>();
}

}  // namespace stoker
