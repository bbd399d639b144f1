// What a run was given, against what the model says about its inputs.
//
// Pure functions; any thread. Errors are thrown, with the input's name: not_found (with the nearest), invalid_argument,
// dtype_mismatch, shape_mismatch with what was expected and what came.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "stoker/api/onnx/run/model.hpp"
#include "stoker/api/onnx/run/prepared.hpp"

namespace stoker::onnx {

/// One value for each input of the graph; none where its initializer serves.
[[nodiscard]] Values checked_inputs(const Prepared& model, const NamedValues& given);
/// The same for the inputs of any model; none of those that it `may_lack` and that are not given. `op`: what errors
/// name.
[[nodiscard]] Values checked_inputs(std::string_view op, std::span<const ValueInfo> inputs,
                                    const std::function<bool(const ValueInfo&)>& may_lack,
                                    const NamedValues& given);

}  // namespace stoker::onnx
