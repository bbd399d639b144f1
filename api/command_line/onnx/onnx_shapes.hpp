// Inputs of a model that only have shapes: zeros.
//
// Pure functions; any thread, within a DeviceScope. Errors are thrown: invalid_argument for an input whose extents are
// not known; not_found for a name that no input has; unsupported for lists and maps; limit_exceeded for
// an input of very many texts.
#pragma once

#include <string>
#include <vector>

#include "stoker/api/command_line/named_shape.hpp"
#include "stoker/api/onnx/run/model.hpp"

namespace stoker::command_line {

/// An extent of this input is neither in the file nor given.
[[nodiscard]] Error unknown_extents(const onnx::ValueInfo& value);

/// One value for each input that has no default or is named. An input that is not named has the extents of the file;
/// a symbol stands for what it is in those that are.
[[nodiscard]] onnx::NamedValues zeros_for(const std::vector<onnx::Description::Input>& inputs,
                                          const std::vector<NamedShape>& shapes);

}  // namespace stoker::command_line
