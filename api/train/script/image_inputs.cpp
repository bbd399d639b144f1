#include "stoker/api/train/script/image_inputs.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "stoker/api/device.hpp"
#include "stoker/pipeline/script/library/buffer_library.hpp"
#include "stoker/pipeline/script/lua/value_text.hpp"
#include "stoker/pipeline/script/run/script.hpp"
#include "stoker/runtime/base/nearest_name.hpp"

namespace stoker::nn::script {
namespace {

namespace lua = stoker::script;
constexpr const char* predict_op = "predict";

[[noreturn]] void refuse(lua_State* L, const std::string& name, const std::string& reason) {
  lua::raise(L, Error{predict_op,
                      ErrorCode::invalid_argument,
                      "the picture of input '" + name + "': " + reason,
                      {{"input", name}}});
}

/// The field of the table at the top of the stack as a number, or one for each colour.
std::vector<float> check_numbers(lua_State* L, const std::string& name, const char* field) {
  const auto refuse_it = [&] {
    refuse(L, name,
           std::string{field} + " is a number or a list of one for each colour, got " +
               lua::value_text(L, -1));
  };
  std::vector<float> numbers;
  const int type = lua_getfield(L, -1, field);
  if (type == LUA_TNUMBER) {
    numbers.push_back(static_cast<float>(lua_tonumber(L, -1)));
  } else if (type == LUA_TTABLE) {
    constexpr lua_Unsigned most_colours = 3;
    const lua_Unsigned count = lua_rawlen(L, -1);
    if (count == 0 || count > most_colours) refuse_it();
    for (lua_Unsigned i = 1; i <= count; ++i) {
      if (lua_rawgeti(L, -1, static_cast<lua_Integer>(i)) != LUA_TNUMBER) {
        lua_pop(L, 1);
        refuse_it();
      }
      numbers.push_back(static_cast<float>(lua_tonumber(L, -1)));
      lua_pop(L, 1);
    }
  } else if (type != LUA_TNIL) {
    refuse_it();
  }
  lua_pop(L, 1);
  return numbers;
}

/// The same as one of these words; nothing if it is not there.
template <class T, std::size_t Size>
std::optional<T> check_word(lua_State* L, const std::string& name, const char* field,
                            const std::array<std::pair<std::string_view, T>, Size>& words) {
  std::optional<T> found;
  if (lua_getfield(L, -1, field) != LUA_TNIL) {
    std::string list;
    for (const auto& [word, meant] : words) {
      if (lua_type(L, -1) == LUA_TSTRING && lua::check_text(L, -1) == word) found = meant;
      list.append(list.empty() ? "" : ", ").append(word);
    }
    if (!found)
      refuse(L, name,
             std::string{field} + " is one of " + list + ", got " + lua::value_text(L, -1));
  }
  lua_pop(L, 1);
  return found;
}

/// The options at the top of the stack.
ImageOptions check_options(lua_State* L, const std::string& name) {
  if (!lua_istable(L, -1))
    refuse(L, name, "its options are a table such as {mean = 127}, got " + lua::value_text(L, -1));
  lua::check_options(L, lua_gettop(L), predict_op, {"size", "mean", "std", "layout", "colours"});
  ImageOptions options;
  options.mean = check_numbers(L, name, "mean");
  options.std = check_numbers(L, name, "std");
  options.layout = check_word(L, name, "layout", image_layouts).value_or(ImageLayout::as_declared);
  options.colours =
      check_word(L, name, "colours", image_colours).value_or(ImageColours::as_declared);
  if (lua_getfield(L, -1, "size") != LUA_TNIL) {
    std::array<std::int64_t, 2> size{};
    bool fits = lua_istable(L, -1) && lua_rawlen(L, -1) == size.size();
    for (std::size_t i = 0; fits && i < size.size(); ++i) {
      int is_whole = 0;
      fits = lua_rawgeti(L, -1, static_cast<lua_Integer>(i) + 1) == LUA_TNUMBER;
      size[i] = lua_tointegerx(L, -1, &is_whole);
      fits = fits && is_whole != 0;
      lua_pop(L, 1);
    }
    if (!fits)
      refuse(L, name,
             "size is rows and columns, such as {240, 320}, got " + lua::value_text(L, -1));
    options.size = {size[0], size[1]};
  }
  lua_pop(L, 1);
  return options;
}

}  // namespace

ImageInputs::ImageInputs(lua_State* L, int index) {
  if (lua_isnoneornil(L, index)) return;
  if (!lua_istable(L, index))
    lua::raise(L, Error{predict_op, ErrorCode::invalid_argument,
                        "what follows the inputs is {image = {NAME = {…}}}, got " +
                            lua::value_text(L, index)});
  lua::check_options(L, index, predict_op, {"image"});
  if (const int type = lua_getfield(L, index, "image"); type == LUA_TTABLE) {
    lua_pushnil(L);
    while (lua_next(L, -2) != 0) {
      lua::spend(L, 10);
      if (lua_type(L, -2) != LUA_TSTRING)
        lua::raise(L, Error{predict_op, ErrorCode::invalid_argument,
                            "the options of pictures are given by the input's name, {image = "
                            "{NAME = {…}}}; there is no name before " +
                                lua::value_text(L, -1)});
      const std::string name{lua::check_text(L, -2)};
      unused_.emplace(name, check_options(L, name));
      lua_pop(L, 1);
    }
  } else if (type != LUA_TNIL) {
    lua::raise(L, Error{predict_op, ErrorCode::invalid_argument,
                        "the options of pictures are {image = {NAME = {…}}}, got image = " +
                            lua::value_text(L, -1)});
  }
  lua_pop(L, 1);
}

expr::Value ImageInputs::input(lua_State* L, const expr::Value& given, const ImageTarget& target) {
  names_.push_back(target.name);
  const auto found = unused_.extract(target.name);
  if (found.empty() && !(is_picture(given.spec()) && takes_picture(target))) return given;
  lua::Script& script = lua::script_of(L);
  const auto make = [&] {
    const DeviceScope scope{Device{script.services().device}};
    return std::vector{
        image_input(Tensor{given}, target, found.empty() ? ImageOptions{} : found.mapped())
            .value()};
  };
  return lua::value_or_raise(
      L, script.evaluator().call(predict_op, lua::current_line(L), {&given, 1}, make))[0];
}

void ImageInputs::check_used(lua_State* L) const {
  if (unused_.empty()) return;
  const std::string& name = unused_.begin()->first;
  const std::vector<std::string_view> known{names_.begin(), names_.end()};
  lua::raise(L, Error{predict_op,
                      ErrorCode::not_found,
                      "there are options for a picture of '" + name +
                          "', and no such input of the model is given a buffer" +
                          did_you_mean(name, known),
                      {{"input", name}}});
}

}  // namespace stoker::nn::script
