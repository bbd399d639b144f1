// buffer(), read(), wait(), device(), and what buffers answer to: fields, operators, tostring, and
// every function of buffers as a method.

#include "stoker/pipeline/script/library/buffer_library.hpp"

#include <algorithm>
#include <array>

#include "stoker/actors/device/device_client.hpp"
#include "stoker/pipeline/script/library/buffer_text.hpp"
#include "stoker/pipeline/script/library/buffer_values.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::script {
namespace {

using std::string_view_literals::operator""sv;

constexpr const char* buffer_type = "stoker.buffer";
constexpr std::array facts = {"shape"sv, "dtype"sv, "size"sv, "bytes"sv};

/// The options table of buffer().
struct BufferOptions {
  DType dtype = DType::f32;
  std::optional<Shape> shape;
};

BufferOptions check_buffer_options(lua_State* L, int index) {
  BufferOptions options;
  if (lua_isnoneornil(L, index)) return options;
  luaL_checktype(L, index, LUA_TTABLE);
  check_options(L, index, "buffer", {"shape", "dtype"});
  if (lua_getfield(L, index, "dtype") != LUA_TNIL) {
    const std::string_view name = check_text(L, -1);
    const std::optional<DType> dtype = parse_dtype(name);
    if (!dtype) raise(L, no_such_dtype("buffer", name));
    if (is_complex(*dtype))
      raise(L, Error{"buffer", ErrorCode::unsupported,
                     "scripts read complex buffers and do not make them"});
    options.dtype = *dtype;
  }
  if (lua_getfield(L, index, "shape") != LUA_TNIL)
    options.shape = value_or_raise(
        L, Shape::try_make(check_integers(L, lua_gettop(L), "buffer", "shape"), "buffer"));
  lua_pop(L, 2);
  return options;
}

[[noreturn]] void refuse_count(lua_State* L, const TensorSpec& spec, std::string_view unit,
                               std::size_t expected, std::size_t got) {
  raise(L, Error{"buffer",
                 ErrorCode::shape_mismatch,
                 "the values do not fill " + spec.to_string(),
                 {{"expected", std::to_string(expected) + " " + std::string{unit}},
                  {"got", std::to_string(got) + " " + std::string{unit}}}});
}

/// buffer(values, {shape =, dtype =}); a text is taken as the raw bytes.
int make_buffer(lua_State* L, Script& script) {
  spend(L, 400);  // about as long as that many instructions
  const BufferOptions options = check_buffer_options(L, 2);
  Evaluator& evaluator = script.evaluator();
  if (lua_type(L, 1) == LUA_TSTRING) {
    const std::string_view text = check_text(L, 1);
    const auto count = static_cast<std::int64_t>(text.size() / size_of(options.dtype));
    const TensorSpec spec{options.dtype, options.shape.value_or(Shape{count})};
    if (spec.bytes() != text.size()) refuse_count(L, spec, "bytes", spec.bytes(), text.size());
    push_buffer(L, value_or_raise(L, evaluator.constant(spec, std::as_bytes(std::span{text}))));
    return 1;
  }
  luaL_argexpected(L, lua_istable(L, 1) || lua_isnumber(L, 1) != 0 || lua_isboolean(L, 1), 1,
                   "number or table");
  const Elements elements = read_elements(L, 1, options.dtype);
  const TensorSpec spec{options.dtype, options.shape.value_or(elements.shape)};
  if (spec.bytes() != elements.bytes.size())
    refuse_count(L, spec, "values", spec.elements(),
                 elements.bytes.size() / size_of(options.dtype));
  push_buffer(L, value_or_raise(L, evaluator.constant(spec, elements.bytes)));
  return 1;
}

/// read(b): all elements, row by row, in one table.
int read_buffer(lua_State* L, Script& script) {
  const expr::Value value = check_buffer(L, 1, "read");
  const std::size_t count = value.spec().elements();
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    raise(L, Error{"read",
                   ErrorCode::limit_exceeded,
                   "a table cannot hold so many values",
                   {{"elements", std::to_string(count)}}});
  // First the table: it is the larger part and counts as the script's memory.
  lua_createtable(L, static_cast<int>(count), 0);
  const std::size_t element = size_of(value.spec().dtype);
  constexpr std::size_t part = std::size_t{1} << 20;
  for (std::size_t first = 0; first < count; first += part) {
    const std::size_t size = std::min(part, count - first);
    const auto bytes =
        value_or_raise(L, script.evaluator().read(value, first * element, size * element));
    spend(L, 2 * size);
    for (std::size_t i = 0; i < size; ++i) {
      push_element(L, value.spec().dtype, bytes.data() + i * element);
      lua_rawseti(L, -2, static_cast<lua_Integer>(first + i + 1));
    }
  }
  return 1;
}

/// wait(b, …): until these are there; wait(): until everything is.
int wait_for_buffers(lua_State* L, Script& script) {
  spend(L, 20 * (static_cast<std::uint64_t>(lua_gettop(L)) + 1));
  std::vector<expr::Value> values;
  for (int i = 1; i <= lua_gettop(L); ++i) values.push_back(check_buffer(L, i, "wait"));
  value_or_raise(L, values.empty() ? script.evaluator().finish() : script.evaluator().wait(values));
  return lua_gettop(L);
}

int describe_buffer(lua_State* L, Script& script) {
  constexpr std::size_t read_whole = std::size_t{4} << 20;
  constexpr std::size_t most_shown = std::size_t{1} << 14;  // of many axes, edges are many, too
  constexpr std::size_t end_elements = 4;
  const expr::Value value = check_buffer(L, 1, "tostring");
  const TensorSpec& spec = value.spec();
  Evaluator& evaluator = script.evaluator();
  const std::size_t shown = elements_in_text(spec.shape);
  if (spec.bytes() <= read_whole && shown <= most_shown) {
    const auto bytes = value_or_raise(L, evaluator.read(value, 0, spec.bytes()));
    spend(L, spec.bytes() / 64 + 50 * shown);
    push_text(L, buffer_text(spec, bytes));
    return 1;
  }
  const std::size_t end = end_elements * size_of(spec.dtype);
  const auto first = value_or_raise(L, evaluator.read(value, 0, end));
  const auto last = value_or_raise(L, evaluator.read(value, spec.bytes() - end, end));
  push_text(L, buffer_ends_text(spec, first, last));
  return 1;
}

int buffer_field(lua_State* L, Script&) {
  const expr::Value value = check_buffer(L, 1, "buffer");
  if (lua_type(L, 2) != LUA_TSTRING)
    raise(L,
          Error{"buffer", ErrorCode::invalid_argument,
                "a buffer has no elements of its own in Lua, so there is no b[" + value_text(L, 2) +
                    "]; read(b) gives them as a table, slice(b, {…}) a part"});
  const std::string_view key = check_text(L, 2);
  const TensorSpec& spec = value.spec();
  if (key == "shape") {
    lua_createtable(L, static_cast<int>(spec.shape.rank()), 0);
    for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis) {
      lua_pushinteger(L, spec.shape[axis]);
      lua_rawseti(L, -2, static_cast<lua_Integer>(axis) + 1);
    }
  } else if (key == "dtype") {
    push_text(L, to_string(spec.dtype));
  } else if (key == "size") {
    lua_pushinteger(L, spec.shape.elements());
  } else if (key == "bytes") {
    lua_pushinteger(L, static_cast<lua_Integer>(spec.bytes()));
  } else if (key == "read") {
    lua_pushcfunction(L, function<read_buffer>);
  } else if (key == "wait") {
    lua_pushcfunction(L, function<wait_for_buffers>);
  } else {
    push_function(L, key);
    if (lua_isnil(L, -1)) {
      const std::string field = did_you_mean(key, facts);
      raise(L, Error{"buffer", ErrorCode::not_found,
                     "a buffer has no field and no kernel of this name: " +
                         std::string{key.substr(0, 64)} +
                         (field.empty() ? suggestion(L, key) : field)});
    }
  }
  return 1;
}

int refuse_field(lua_State* L, Script&) {
  return luaL_error(L, "the fields of a buffer cannot be changed");
}

/// What Lua's operators are.
namespace operators {
constexpr const char* add = "add";
constexpr const char* subtract = "subtract";
constexpr const char* multiply = "multiply";
constexpr const char* divide = "elementwise_div";
constexpr const char* floor_divide = "floor_divide";
constexpr const char* modulo = "modulo";
constexpr const char* power = "pow";
constexpr const char* negate = "negate";
constexpr const char* bit_and = "bitwise_and";
constexpr const char* bit_or = "bitwise_or";
constexpr const char* bit_xor = "bitwise_xor";
constexpr const char* bit_not = "bitwise_not";
constexpr const char* shift_left = "left_shift";
constexpr const char* shift_right = "right_shift";
constexpr const char* less = "less";
constexpr const char* less_equal = "less_equal";
constexpr const char* greater = "greater";
constexpr const char* greater_equal = "greater_equal";
}  // namespace operators

/// An operator: the operation of this name on its operands.
template <const char* const& Name, int Operands> int operate(lua_State* L, Script& script) {
  const Operation* const operation = script.services().operations->find(Name);
  if (operation == nullptr)
    raise(L, Error{Name, ErrorCode::unknown_kernel, "this build has no such kernel"});
  lua_settop(L, Operands);  // Lua passes the operand of a unary operator twice
  return call_operation(L, *operation, 1);
}

/// Lua makes one boolean of what __lt and __le give, so no buffer can come out of them.
template <const char* const& Less, const char* const& Greater>
int refuse_comparison(lua_State* L, Script&) {
  raise(L, Error{"buffer", ErrorCode::unsupported,
                 "Lua's <, <=, > and >= give one boolean and do not compare buffers; write " +
                     std::string{Less} + "(a, b) or " + Greater + "(a, b)"});
}

/// device(): what the script runs on.
int device(lua_State* L, Script& script) {
  const DeviceInfo& info = script.services().device->info();
  lua_newtable(L);
  const auto set_text = [&](const char* key, std::string_view value) {
    push_text(L, value);
    lua_setfield(L, -2, key);
  };
  set_text("name", info.name);
  set_text("backend", info.backend);
  set_text("description", info.description);
  set_text("type", to_string(info.type));
  lua_pushinteger(L, static_cast<lua_Integer>(info.memory_bytes));
  lua_setfield(L, -2, "memory_bytes");
  lua_pushinteger(L, info.compute_units);
  lua_setfield(L, -2, "compute_units");
  return 1;
}

}  // namespace

void push_buffer(lua_State* L, expr::Value value) {
  push_object<expr::Value>(L, buffer_type, std::move(value));
}

expr::Value* test_buffer(lua_State* L, int index) {
  return test_object<expr::Value>(L, index, buffer_type);
}

expr::Value check_buffer(lua_State* L, int index, std::string_view op) {
  if (const expr::Value* value = test_buffer(L, index)) return *value;
  raise(L, Error{std::string{op}, ErrorCode::invalid_argument,
                 "argument " + std::to_string(index) + " must be a buffer, not " +
                     luaL_typename(L, index)});
}

Error no_such_dtype(std::string_view op, std::string_view name) {
  static constexpr std::array known = {"f32"sv, "f64"sv, "f16"sv, "bf16"sv, "s8"sv,
                                       "s16"sv, "s32"sv, "s64"sv, "u8"sv,   "u16"sv,
                                       "u32"sv, "u64"sv, "bool"sv};
  std::string names;
  for (const std::string_view one : known) names.append(names.empty() ? "" : ", ").append(one);
  return {std::string{op},
          ErrorCode::invalid_parameter,
          "there is no dtype '" + std::string{name.substr(0, 64)} + "'" + did_you_mean(name, known),
          {{"known", names}}};
}

bool is_field(std::string_view name) noexcept {
  return std::ranges::find(facts, name) != facts.end() || name == "read" || name == "wait";
}

std::vector<std::int64_t> check_integers(lua_State* L, int index, std::string_view op,
                                         std::string_view what) {
  constexpr std::size_t most = 4096;
  index = lua_absindex(L, index);  // elements are pushed
  const auto refuse = [&] {
    raise(L, Error{std::string{op},
                   ErrorCode::invalid_parameter,
                   std::string{what} + " must be a list of at most " + std::to_string(most) +
                       " integers",
                   {{"got", value_text(L, index)}}});
  };
  if (!lua_istable(L, index) || lua_rawlen(L, index) > most) refuse();
  std::vector<std::int64_t> values(lua_rawlen(L, index));
  for (std::size_t i = 0; i < values.size(); ++i) {
    lua_rawgeti(L, index, static_cast<lua_Integer>(i) + 1);
    int whole = 0;
    values[i] = lua_tointegerx(L, -1, &whole);
    if (whole == 0 || lua_type(L, -1) != LUA_TNUMBER) refuse();
    lua_pop(L, 1);
  }
  return values;
}

void check_options(lua_State* L, int index, std::string_view op,
                   std::initializer_list<std::string_view> known) {
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    spend(L, 1);
    const std::string_view key =
        lua_type(L, -2) == LUA_TSTRING ? check_text(L, -2) : std::string_view{};
    if (std::ranges::find(known, key) == known.end()) {
      std::string names;
      for (const std::string_view name : known)
        names.append(names.empty() ? "" : ", ").append(name);
      raise(L, Error{std::string{op},
                     ErrorCode::invalid_parameter,
                     "unknown option " + std::string{luaL_tolstring(L, -2, nullptr)}.substr(0, 64) +
                         did_you_mean(key, {known.begin(), known.size()}),
                     {{"known", names}}});
    }
    lua_pop(L, 1);
  }
}

void open_buffers(lua_State* L) {
  open_type<expr::Value>(L, buffer_type);
  const luaL_Reg behaviour[] = {
      {"__index", function<buffer_field>},
      {"__newindex", function<refuse_field>},
      {"__tostring", function<describe_buffer>},
      {"__add", function<operate<operators::add, 2>>},
      {"__sub", function<operate<operators::subtract, 2>>},
      {"__mul", function<operate<operators::multiply, 2>>},
      {"__div", function<operate<operators::divide, 2>>},
      {"__idiv", function<operate<operators::floor_divide, 2>>},
      {"__mod", function<operate<operators::modulo, 2>>},
      {"__pow", function<operate<operators::power, 2>>},
      {"__unm", function<operate<operators::negate, 1>>},
      {"__band", function<operate<operators::bit_and, 2>>},
      {"__bor", function<operate<operators::bit_or, 2>>},
      {"__bxor", function<operate<operators::bit_xor, 2>>},
      {"__shl", function<operate<operators::shift_left, 2>>},
      {"__shr", function<operate<operators::shift_right, 2>>},
      {"__bnot", function<operate<operators::bit_not, 1>>},
      {"__lt", function<refuse_comparison<operators::less, operators::greater>>},
      {"__le", function<refuse_comparison<operators::less_equal, operators::greater_equal>>},
      {nullptr, nullptr}};
  luaL_setfuncs(L, behaviour, 0);
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  const luaL_Reg functions[] = {{"buffer", function<make_buffer>},
                                {"read", function<read_buffer>},
                                {"wait", function<wait_for_buffers>},
                                {"device", function<device>},
                                {nullptr, nullptr}};
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}

}  // namespace stoker::script
