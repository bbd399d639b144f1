// Lua values into elements of buffers and back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/runtime/base/shape.hpp"

namespace stoker::script {

/// The elements of the value at `index`: a number, a boolean, or a table of them, nested as deep as
/// the shape is long. Raises on a ragged table, an element of another type, and a number that the
/// dtype does not hold.
struct Elements {
  Shape shape;
  std::vector<std::byte> bytes;
};
[[nodiscard]] Elements read_elements(lua_State* L, int index, DType dtype);

/// Pushes one element.
void push_element(lua_State* L, DType dtype, const std::byte* element);
/// One element as text, short: floats with four digits.
[[nodiscard]] std::string element_text(DType dtype, const std::byte* element);

}  // namespace stoker::script
