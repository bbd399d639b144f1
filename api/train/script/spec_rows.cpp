#include "stoker/api/train/script/spec_rows.hpp"

namespace stoker::nn::script {
namespace {

namespace lua = stoker::script;

void push_shape(lua_State* L, const std::vector<SpecRow::Extent>& shape) {
  lua_createtable(L, static_cast<int>(shape.size()), 0);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis].extent)
      lua_pushinteger(L, *shape[axis].extent);
    else
      lua::push_text(L, shape[axis].name);
    lua_rawseti(L, -2, static_cast<lua_Integer>(axis + 1));
  }
}

}  // namespace

void push_spec_rows(lua_State* L, std::span<const SpecRow> rows) {
  lua::spend(L, 20 * rows.size());
  lua_createtable(L, static_cast<int>(rows.size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SpecRow& row = rows[i];
    lua_createtable(L, 0, 4);
    lua::push_text(L, row.name);
    lua_setfield(L, -2, "name");
    if (!row.dtype.empty()) {
      lua::push_text(L, row.dtype);
      lua_setfield(L, -2, "dtype");
    }
    if (row.shape) {
      push_shape(L, *row.shape);
      lua_setfield(L, -2, "shape");
    }
    if (row.optional) {
      lua_pushboolean(L, 1);
      lua_setfield(L, -2, "optional");
    }
    lua_rawseti(L, -2, static_cast<lua_Integer>(i + 1));
  }
}

}  // namespace stoker::nn::script
