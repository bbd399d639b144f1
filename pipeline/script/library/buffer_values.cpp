#include "stoker/pipeline/script/library/buffer_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "stoker/pipeline/script/run/script.hpp"

namespace stoker::script {
namespace {

template <class T>
constexpr bool is_real =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

[[noreturn]] void refuse(lua_State* L, int index, DType dtype) {
  std::size_t size = 0;
  const char* text = luaL_tolstring(L, index, &size);
  raise(L, Error{"buffer", ErrorCode::dtype_mismatch,
                 "the value " + std::string{text, std::min<std::size_t>(size, 64)} +
                     " cannot be an element of " + std::string{to_string(dtype)}});
}

/// The number or boolean at `index` as T, or nothing if T does not hold it.
template <class T> std::optional<T> element_at(lua_State* L, int index) {
  const int type = lua_type(L, index);
  if constexpr (std::is_same_v<T, bool>) {
    if (type == LUA_TBOOLEAN) return lua_toboolean(L, index) != 0;
    if (type == LUA_TNUMBER) return lua_tonumber(L, index) != 0;
  } else if constexpr (is_real<T>) {
    if (type == LUA_TNUMBER) {
      if constexpr (std::is_same_v<T, double>)
        return lua_tonumber(L, index);
      else
        return T(static_cast<float>(lua_tonumber(L, index)));
    }
  } else {
    int whole = 0;
    const lua_Integer value = lua_tointegerx(L, index, &whole);
    if (type == LUA_TNUMBER && whole != 0 && std::in_range<T>(value)) return static_cast<T>(value);
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      // Lua's integers end at 2^63; what is beyond arrives as a float.
      const lua_Number number = lua_tonumber(L, index);
      if (type == LUA_TNUMBER && whole == 0 && number >= 0x1p63 && number < 0x1p64)
        return static_cast<T>(number);
    }
  }
  return std::nullopt;
}

/// Fills bytes in the order of a nested table's leaves.
class Flattener {
 public:
  Flattener(lua_State* L, DType dtype, const Shape& shape, std::byte* to)
      : L_{L}, dtype_{dtype}, shape_{shape}, to_{to} {}

  void add(int index, std::size_t axis) {
    if (axis == shape_.rank()) return add_leaf(index);
    luaL_checkstack(L_, 2, "buffer");
    const auto count =
        lua_istable(L_, index) ? static_cast<std::int64_t>(lua_rawlen(L_, index)) : -1;
    if (count != shape_[axis])
      raise(L_, Error{"buffer",
                      ErrorCode::shape_mismatch,
                      "the table is ragged",
                      {{"expected", std::to_string(shape_[axis])},
                       {"got", count < 0 ? "no table" : std::to_string(count)},
                       {"axis", std::to_string(axis)}}});
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L_, index, i);
      add(lua_gettop(L_), axis + 1);
      lua_pop(L_, 1);
    }
  }

 private:
  void add_leaf(int index) {
    if (++leaves_ % 64 == 0) spend(L_, 64);
    visit_dtype(dtype_, [&]<class T>() {
      const std::optional<T> element = element_at<T>(L_, index);
      if (!element) refuse(L_, index, dtype_);
      std::memcpy(to_, &*element, sizeof(T));
      to_ += sizeof(T);
    });
  }

  lua_State* L_;
  DType dtype_;
  const Shape& shape_;
  std::byte* to_;
  std::uint64_t leaves_ = 0;
};

/// The shape of a nested table, as its first elements show it.
Shape shape_of_table(lua_State* L, int index) {
  std::vector<std::int64_t> extents;
  const int top = lua_gettop(L);
  lua_pushvalue(L, index);
  while (lua_istable(L, -1)) {
    if (extents.size() == Shape::max_rank)
      raise(L, Error{"buffer", ErrorCode::shape_mismatch, "tables may be nested 8 deep"});
    extents.push_back(static_cast<std::int64_t>(lua_rawlen(L, -1)));
    lua_rawgeti(L, -1, 1);
  }
  lua_settop(L, top);
  return value_or_raise(L, Shape::try_make(extents, "buffer"));
}

}  // namespace

Elements read_elements(lua_State* L, int index, DType dtype) {
  index = lua_absindex(L, index);
  Elements elements{shape_of_table(L, index), {}};
  // A row may be named many times in one table, so its size says nothing about the sum.
  const std::size_t bytes = TensorSpec{dtype, elements.shape}.bytes();
  const MemoryLoan loan = value_or_raise(L, script_of(L).evaluator().lend(bytes));
  elements.bytes.resize(bytes);
  Flattener{L, dtype, elements.shape, elements.bytes.data()}.add(index, 0);
  return elements;
}

void push_element(lua_State* L, DType dtype, const std::byte* element) {
  if (is_complex(dtype)) {
    lua_createtable(L, 2, 0);
    for (int part = 0; part < 2; ++part) {
      push_element(L, component_of(dtype),
                   element + static_cast<std::size_t>(part) * size_of(component_of(dtype)));
      lua_rawseti(L, -2, part + 1);
    }
    return;
  }
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      lua_pushboolean(L, *element != std::byte{0});
    } else {
      T value;
      std::memcpy(&value, element, sizeof(T));
      if constexpr (std::is_same_v<T, double>)
        lua_pushnumber(L, value);
      else if constexpr (is_real<T>)
        lua_pushnumber(L, static_cast<double>(static_cast<float>(value)));
      else if (std::in_range<lua_Integer>(value))
        lua_pushinteger(L, static_cast<lua_Integer>(value));
      else
        lua_pushnumber(L, static_cast<lua_Number>(value));
    }
  });
}

std::string element_text(DType dtype, const std::byte* element) {
  if (is_complex(dtype)) {
    const DType part = component_of(dtype);
    const std::string imaginary = element_text(part, element + size_of(part));
    return element_text(part, element) + (imaginary.front() == '-' ? "" : "+") + imaginary + "i";
  }
  return visit_dtype(dtype, [&]<class T>() -> std::string {
    if constexpr (std::is_same_v<T, bool>) {
      return *element != std::byte{0} ? "true" : "false";
    } else {
      T value;
      std::memcpy(&value, element, sizeof(T));
      if constexpr (is_real<T>) {
        double number = 0;
        if constexpr (std::is_same_v<T, double>)
          number = value;
        else
          number = static_cast<double>(static_cast<float>(value));
        char text[32];
        std::snprintf(text, sizeof text, "%.4g", number);
        return text;
      } else {
        return std::to_string(value);
      }
    }
  });
}

}  // namespace stoker::script
