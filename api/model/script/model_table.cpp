#include "stoker/api/model/script/model_table.hpp"

#include <algorithm>

#include "stoker/api/model/core/backends.hpp"
#include "stoker/api/model/script/named_inputs.hpp"
#include "stoker/api/model/script/onnx_models.hpp"
#include "stoker/api/model/script/returned_model.hpp"
#include "stoker/api/onnx/run/inputs.hpp"
#include "stoker/api/train/script/image_inputs.hpp"
#include "stoker/api/train/script/model_library.hpp"
#include "stoker/api/train/script/saved_models.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/pipeline/script/run/file_thread.hpp"

namespace stoker {
namespace {

namespace lua = stoker::script;
constexpr const char* load_op = "model.load";

/// Pushes a table of the inputs in that at `given`, pictures as what the model takes. They fit, as those of a
/// prediction from outside must.
void push_inputs(lua_State* L, const models::ReturnedModel& model, int given) {
  onnx::NamedValues inputs;
  nn::script::ImageInputs pictures{L, given + 1};
  lua_newtable(L);
  const int made = lua_gettop(L);
  models::each_named_input(L, given, [&](const std::string& name) {
    expr::Value value = models::check_named_buffer(L, name);
    const auto known = std::ranges::find(model.inputs, name, &onnx::ValueInfo::name);
    if (known != model.inputs.end()) value = pictures.input(L, value, models::image_target(*known));
    inputs.emplace(name, Tensor{value});
    lua::push_text(L, name);
    lua::push_buffer(L, value);
    lua_rawset(L, made);
  });
  pictures.check_used(L);
  static_cast<void>(onnx::checked_inputs(
      models::predict_op, model.inputs, [](const onnx::ValueInfo&) { return false; }, inputs));
}

/// m:predict({name = buffer, …}, options) of a script's model, which is what the script returned: the first upvalue.
int predict(lua_State* L, lua::Script&) {
  constexpr int given = 2;
  lua_settop(L, given + 1);
  const models::ReturnedModel model = models::check_returned(L, lua_upvalueindex(1));
  push_inputs(L, model, given);
  lua_call(L, 1, 1);
  const std::vector<expr::Value> outputs = models::check_outputs(L, -1, model);
  lua_createtable(L, 0, static_cast<int>(outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    lua::push_text(L, model.outputs[i].name);
    lua::push_buffer(L, outputs[i]);
    lua_rawset(L, -3);
  }
  return 1;
}

/// Runs the script of a file within the one that loads it, and pushes the model that it returns.
void push_script_model(lua_State* L, lua::Script& script, const std::filesystem::path& path) {
  using SourcePtr = std::shared_ptr<const ScriptSource>;
  const auto source =
      lua::on_file_thread<SourcePtr>(L, script, load_op, [path]() -> Result<SourcePtr> {
        try {
          return std::make_shared<const ScriptSource>(ScriptSource::from_file(path));
        } catch (const Error& why) {
          return why;
        }
      });
  const lua::MemoryLoan loan = lua::value_or_raise(L, script.evaluator().lend(source->text.size()));
  const std::string chunk = "@" + source->name;
  if (lua::load_text(L, source->text, chunk.c_str(), 1) != LUA_OK) {
    const Error why = lua::error_at_top(L, LUA_ERRSYNTAX);
    lua::raise(L, Error{load_op,
                        ErrorCode::compile_failed,
                        std::string{why.reason()},
                        {{"path", path.string()}}});
  }
  lua_call(L, 0, 1);
  const int returned = lua_gettop(L);
  const models::ReturnedModel model = models::check_returned(L, returned);
  lua_createtable(L, 0, 3);
  models::push_infos(L, model.inputs);
  lua_setfield(L, -2, "inputs");
  models::push_infos(L, model.outputs);
  lua_setfield(L, -2, "outputs");
  lua_pushvalue(L, returned);
  lua_pushcclosure(L, lua::function<predict>, 1);
  lua_setfield(L, -2, "predict");
}

[[noreturn]] void refuse_option(lua_State* L, const char* name, const char* expected) {
  lua::raise(L, Error{load_op,
                      ErrorCode::invalid_parameter,
                      std::string{name} + " must be " + expected,
                      {{"parameter", name}, {"got", lua::value_text(L, -1)}}});
}

/// {max_plan_bytes = number, on_new_shape = "trace" or "refuse"} at `index`, if it is there.
models::PlanOptions check_plan_options(lua_State* L, int index) {
  models::PlanOptions made;
  if (lua_isnoneornil(L, index)) return made;
  luaL_checktype(L, index, LUA_TTABLE);
  lua::check_options(L, index, load_op, {"max_plan_bytes", "on_new_shape"});
  if (lua_getfield(L, index, "max_plan_bytes") != LUA_TNIL) {
    int whole = 0;
    const lua_Integer bytes = lua_tointegerx(L, -1, &whole);
    if (whole == 0 || lua_type(L, -1) != LUA_TNUMBER || bytes < 0)
      refuse_option(L, "max_plan_bytes", "a whole number, 0 or more");
    made.max_plan_bytes = static_cast<std::uint64_t>(bytes);
  }
  lua_pop(L, 1);
  if (lua_getfield(L, index, "on_new_shape") != LUA_TNIL) {
    const bool is_text = lua_type(L, -1) == LUA_TSTRING;
    const bool refuses = is_text && lua::check_text(L, -1) == "refuse";
    if (!refuses && !(is_text && lua::check_text(L, -1) == "trace"))
      refuse_option(L, "on_new_shape", "\"trace\" or \"refuse\"");
    if (refuses) made.on_new_shape = onnx::NewShape::refuse;
  }
  lua_pop(L, 1);
  return made;
}

int load(lua_State* L, lua::Script& script) {
  const models::PlanOptions plans = check_plan_options(L, 2);
  const std::filesystem::path path =
      lua::value_or_raise(L, script.paths().find(load_op, lua::check_text(L, 1)));
  const auto kind = lua::on_file_thread<ModelKind>(
      L, script, load_op, [path]() -> Result<ModelKind> { return kind_of_model(path); });
  if (plans.on_new_shape != onnx::NewShape::trace && kind != ModelKind::onnx)
    lua::raise(L, Error{load_op, ErrorCode::unsupported,
                        "new shapes are refused by ONNX models only, and this is a " +
                            std::string{to_string(kind)}});
  switch (kind) {
    case ModelKind::onnx: models::push_onnx_model(L, path, plans); return 1;
    case ModelKind::network: return nn::script::load_saved_model(L, script);
    case ModelKind::script: break;
  }
  push_script_model(L, script, path);
  return 1;
}

}  // namespace

void ModelTable::open(lua_State* L) {
  nn::ModelLibrary{}.open(L);
  models::open_onnx_models(L);
  lua_newtable(L);
  lua_pushcfunction(L, lua::function<load>);
  lua_setfield(L, -2, "load");
  lua_setglobal(L, "model");
}

}  // namespace stoker
