// The functions of tensors for Lua scripts (component Stoker::tensor_script); see docs/scripts.md
// ("Functions of tensors").
//
//     options.extension = stoker::script_functions();
//     host.start({"demo", "print(stack(zeros{shape = {2}}, ones{shape = {2}}))"}, options);
//
// The libraries of nn (component Stoker::nn_script) include these functions, too.
#pragma once

#include <memory>

#include "stoker/api/script.hpp"

namespace stoker {

/// Gives scripts the functions of tensors that are composed of several operations. Any number of
/// scripts may share one extension, also at the same time.
[[nodiscard]] std::shared_ptr<ScriptExtension> script_functions();

}  // namespace stoker
