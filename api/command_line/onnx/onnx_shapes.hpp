// Inputs of a model for which the command line gives values, or only shapes: zeros.
//
// Threads: any, within a DeviceScope; blocks on files. Errors are thrown: invalid_argument for an input whose extents
// are unknown, or given together with a value; not_found for an unknown input and for files; unsupported for lists and
// maps without a value; limit_exceeded for an input of very many texts; those of value_for() (input_value.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/api/command_line/named_shape.hpp"
#include "stoker/api/command_line/words/onnx_words.hpp"
#include "stoker/api/onnx/run/model.hpp"

namespace stoker::command_line {

/// An extent of this input is neither in the file nor given.
[[nodiscard]] Error unknown_extents(const onnx::ValueInfo& value);

/// Makes the values of an input. The element type has a carrier.
using Fill = std::function<onnx::Value(onnx::ElementType, const Shape&)>;

/// Those that the words name.
[[nodiscard]] onnx::NamedValues values_for(const std::vector<onnx::Description::Input>& inputs,
                                           const InputWords& words);
/// `given` and zeros: one value for each input that has no default or is named. An input that is not named has the
/// extents of the file; a symbol stands for what it is in those that are.
[[nodiscard]] onnx::NamedValues with_zeros(const std::vector<onnx::Description::Input>& inputs,
                                           const std::vector<NamedShape>& shapes,
                                           const onnx::NamedValues& given);
/// The same with other tensors in place of zeros. Texts are empty. An input of any element type has f32.
[[nodiscard]] onnx::NamedValues with_values(const std::vector<onnx::Description::Input>& inputs,
                                            const std::vector<NamedShape>& shapes,
                                            const onnx::NamedValues& given, const Fill& fill);

}  // namespace stoker::command_line
