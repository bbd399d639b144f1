// Checks the inputs of a run against the model's declaration.
//
// Pure functions; any thread. Errors are thrown, with the input's name: not_found (with the nearest name),
// invalid_argument, dtype_mismatch, shape_mismatch with the expected and the given type and shape.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "stoker/api/onnx/run/model.hpp"
#include "stoker/api/onnx/run/prepared.hpp"

namespace stoker::onnx {

/// One value for each input of the graph; empty if its initializer is used.
[[nodiscard]] Values checked_inputs(const Prepared& model, const NamedValues& given);
/// The same for the inputs of any model; empty for an omitted input that the model `may_lack`. `op`: the op of
/// errors.
[[nodiscard]] Values checked_inputs(std::string_view op, std::span<const ValueInfo> inputs,
                                    const std::function<bool(const ValueInfo&)>& may_lack,
                                    const NamedValues& given);

}  // namespace stoker::onnx
