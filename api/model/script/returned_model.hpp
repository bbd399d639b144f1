// The table that a pipeline script returns to be a model:
//
//     return {
//       inputs = {{name = "photo", dtype = "u8", shape = {"height", "width", 3}}},
//       outputs = {"edges"},
//       predict = function(x) return {edges = sobel(grayscale(x.photo))} end,
//     }
//
// An input or an output is a name, or a table with the name and optionally the dtype (default f32) and the shape: a
// list of numbers, symbols that stand for the same number in all inputs, and "?". `predict` gets a table of buffers by
// name and returns one, or the only output itself.
//
// Threads: the script's process. Errors are raised, with what was expected: invalid_argument; dtype_mismatch and
// shape_mismatch for an output that differs from its declaration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stoker/pipeline/onnx/graph/value_type.hpp"
#include "stoker/pipeline/script/lua/lua_glue.hpp"
#include "stoker/pipeline/tensor/graph/value.hpp"

namespace stoker::models {

struct ReturnedModel {
  std::vector<onnx::ValueInfo> inputs;
  std::vector<onnx::ValueInfo> outputs;
};

/// The model in the table at `index`; pushes its function `predict`.
[[nodiscard]] ReturnedModel check_returned(lua_State* L, int index);
/// The results of `predict` at `index`: the buffer of each output, in order.
[[nodiscard]] std::vector<expr::Value> check_outputs(lua_State* L, int index,
                                                     const ReturnedModel& model);

/// Pushes a list of tables {name =, dtype =, shape =}, as scripts see inputs and outputs.
void push_infos(lua_State* L, const std::vector<onnx::ValueInfo>& infos);

}  // namespace stoker::models
