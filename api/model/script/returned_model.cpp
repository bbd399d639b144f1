#include "stoker/api/model/script/returned_model.hpp"

#include <algorithm>

#include "stoker/api/train/script/spec_rows.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::models {
namespace {

namespace lua = stoker::script;

constexpr const char* op = "model";
constexpr lua_Integer most_values = 1024;

[[noreturn]] void refuse(lua_State* L, const std::string& reason) {
  lua::raise(L, Error{op, ErrorCode::invalid_argument, reason});
}

onnx::Dimension check_dimension(lua_State* L, const std::string& name) {
  if (lua_isinteger(L, -1) != 0 && lua_tointeger(L, -1) >= 0)
    return {.extent = lua_tointeger(L, -1), .symbol = {}};
  if (lua_type(L, -1) != LUA_TSTRING)
    refuse(L, "the shape of '" + name + "' is a list of numbers and names, got " +
                  lua::value_text(L, -1));
  const std::string symbol{lua::check_text(L, -1)};
  return {.extent = {}, .symbol = symbol == "?" ? "" : symbol};
}

/// The table at the top of the stack.
onnx::ValueInfo check_table(lua_State* L, const std::string& list) {
  lua::check_options(L, lua_gettop(L), op, {"name", "dtype", "shape"});
  onnx::ValueInfo info;
  if (lua_getfield(L, -1, "name") != LUA_TSTRING)
    refuse(L, "each of the " + list + " has a name, got " + lua::value_text(L, -2));
  info.name = lua::check_text(L, -1);
  lua_pop(L, 1);
  info.type.kind = onnx::ValueKind::tensor;
  info.type.element = onnx::ElementType::f32;
  if (lua_getfield(L, -1, "dtype") != LUA_TNIL) {
    const auto dtype =
        lua_type(L, -1) == LUA_TSTRING ? parse_dtype(lua::check_text(L, -1)) : std::nullopt;
    if (!dtype) lua::raise(L, lua::no_such_dtype(op, lua::value_text(L, -1)));
    info.type.element = onnx::element_type_of(*dtype);
  }
  lua_pop(L, 1);
  if (lua_getfield(L, -1, "shape") != LUA_TNIL) {
    if (!lua_istable(L, -1)) refuse(L, "the shape of '" + info.name + "' is a list");
    info.type.dims.emplace();
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; ++i) {
      if (i > static_cast<lua_Integer>(Shape::max_rank))
        refuse(L, "the shape of '" + info.name + "' has too many axes");
      info.type.dims->push_back(check_dimension(L, info.name));
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return info;
}

std::vector<onnx::ValueInfo> check_list(lua_State* L, int index, const char* field) {
  if (lua_getfield(L, index, field) != LUA_TTABLE)
    refuse(L, std::string{"a model's '"} + field + "' is a list of names or of tables, got " +
                  lua::value_text(L, -1));
  std::vector<onnx::ValueInfo> infos;
  for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; ++i) {
    lua::spend(L, 10);
    if (i > most_values) refuse(L, std::string{"a model has at most 1024 "} + field);
    if (lua_type(L, -1) == LUA_TSTRING)
      infos.push_back({.name = std::string{lua::check_text(L, -1)}, .type = {}, .doc = {}});
    else if (lua_istable(L, -1))
      infos.push_back(check_table(L, field));
    else
      refuse(L, std::string{"a model's '"} + field + "' is a list of names or of tables, not of " +
                    lua::value_text(L, -1));
    lua_pop(L, 1);
    for (std::size_t before = 0; before + 1 < infos.size(); ++before)
      if (infos[before].name == infos.back().name)
        refuse(L, "'" + infos.back().name + "' stands twice among the " + field);
  }
  lua_pop(L, 2);
  return infos;
}

/// Whether the extents are those that are declared. Symbols may be any number.
bool fits(const Shape& shape, const std::vector<onnx::Dimension>& dims) {
  if (shape.rank() != dims.size()) return false;
  for (std::size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis].extent && *dims[axis].extent != shape[axis]) return false;
  return true;
}

/// What `predict` returned for an output, at `index`.
expr::Value check_output(lua_State* L, int index, const onnx::ValueInfo& output) {
  const expr::Value* const value = lua::test_buffer(L, index);
  if (value == nullptr)
    refuse(L, "output '" + output.name + "': predict returned " + lua::value_text(L, index) +
                  " instead of a buffer");
  const onnx::ValueType& type = output.type;
  const bool has_type = type.element == onnx::ElementType::undefined ||
                        type.element == onnx::element_type_of(value->dtype());
  if (!has_type || (type.dims && !fits(value->spec().shape, *type.dims)))
    lua::raise(L, Error{op, has_type ? ErrorCode::shape_mismatch : ErrorCode::dtype_mismatch,
                        "output '" + output.name + "': expected " + type.to_string() +
                            ", predict returned " + value->spec().to_string()});
  return *value;
}

}  // namespace

ReturnedModel check_returned(lua_State* L, int index) {
  const int table = lua_absindex(L, index);
  constexpr const char* form =
      "a script is a model if it returns {inputs = {…}, outputs = {…}, predict = function(x) … "
      "end}";
  if (!lua_istable(L, table)) refuse(L, std::string{form} + ", got " + lua::value_text(L, table));
  lua::check_options(L, table, op, {"inputs", "outputs", "predict"});
  ReturnedModel model;
  model.inputs = check_list(L, table, "inputs");
  model.outputs = check_list(L, table, "outputs");
  if (model.outputs.empty()) refuse(L, "a model has outputs");
  if (lua_getfield(L, table, "predict") != LUA_TFUNCTION)
    refuse(L, std::string{form} + "; predict is " + lua::value_text(L, -1));
  return model;
}

std::vector<expr::Value> check_outputs(lua_State* L, int index, const ReturnedModel& model) {
  const int returned = lua_absindex(L, index);
  if (model.outputs.size() == 1 && lua::test_buffer(L, returned) != nullptr)
    return {check_output(L, returned, model.outputs.front())};
  if (!lua_istable(L, returned))
    refuse(L, "predict returns a table of buffers by name, got " + lua::value_text(L, returned));
  std::vector<std::string_view> known;
  for (const onnx::ValueInfo& output : model.outputs) known.push_back(output.name);
  lua_pushnil(L);
  while (lua_next(L, returned) != 0) {
    lua::spend(L, 2);
    const std::string_view name =
        lua_type(L, -2) == LUA_TSTRING ? lua::check_text(L, -2) : std::string_view{};
    if (std::ranges::find(known, name) == known.end())
      refuse(L, "predict returned " + lua::value_text(L, -2) + ", which is no output of the model" +
                    did_you_mean(name.substr(0, 64), known));
    lua_pop(L, 1);
  }
  std::vector<expr::Value> values;
  for (const onnx::ValueInfo& output : model.outputs) {
    lua::push_text(L, output.name);
    lua_rawget(L, returned);
    values.push_back(check_output(L, -1, output));
    lua_pop(L, 1);
  }
  return values;
}

void push_infos(lua_State* L, const std::vector<onnx::ValueInfo>& infos) {
  std::vector<nn::script::SpecRow> rows;
  for (const onnx::ValueInfo& info : infos) {
    const onnx::ValueType& type = info.type;
    nn::script::SpecRow row{.name = info.name};
    if (type.kind == onnx::ValueKind::tensor) {
      const auto carrier = onnx::carrier_of(type.element);
      row.dtype = type.element == onnx::ElementType::boolean ? "bool"
                  : carrier                                  ? to_string(*carrier)
                                                             : onnx::to_string(type.element);
      if (type.dims) {
        row.shape.emplace();
        for (const onnx::Dimension& one : *type.dims)
          row.shape->push_back(
              {.extent = one.extent, .name = one.symbol.empty() ? "?" : one.symbol});
      }
    } else if (type.kind != onnx::ValueKind::unknown) {
      row.dtype = type.to_string();
    }
    rows.push_back(std::move(row));
  }
  nn::script::push_spec_rows(L, rows);
}

}  // namespace stoker::models
